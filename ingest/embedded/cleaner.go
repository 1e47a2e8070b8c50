package embedded

import (
	"io/fs"
	"path/filepath"
	"time"
)

// restShare is how much longer than a compaction the pause after it is: the
// cleaner stops the broker for at most a fiftieth of the time.
const restShare = 50

// clean compacts from time to time when something was written. It counts
// bytes on disk rather than requests, so that it needs no part in them.
func (b *Broker) clean() {
	if b.config.CleanOnDemand {
		return
	}
	timer := time.NewTimer(b.config.CleanInterval)
	defer timer.Stop()
	for {
		select {
		case <-b.stop:
			return
		case <-timer.C:
		}
		rest := b.config.CleanInterval
		if b.dirty() {
			began := time.Now()
			if err := b.Compact(); err != nil {
				b.logger.Error("compact the embedded broker's log", "error", err)
			}
			rest = max(rest, restShare*time.Since(began))
		}
		timer.Reset(rest)
	}
}

// dirty reports whether the log has been written to since it was compacted.
func (b *Broker) dirty() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.logBytes() != b.compactedBytes
}

// logBytes is the size of all segments. Files that come and go meanwhile do
// not matter.
func (b *Broker) logBytes() int64 {
	var sum int64
	_ = filepath.WalkDir(partitionsDir(b.dir), func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || filepath.Ext(path) != ".dat" {
			return nil //nolint:nilerr // a file that is gone has no size
		}
		if info, err := entry.Info(); err == nil {
			sum += info.Size()
		}
		return nil
	})
	return sum
}
