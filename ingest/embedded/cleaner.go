package embedded

import (
	"io/fs"
	"path/filepath"
	"time"
)

// restShare is how much longer than a compaction the pause after it is: the
// cleaner stops the broker for at most a fiftieth of the time. One that was asked for
// counts: what the next erasure publishes is not held up by a compaction of what the
// one before has left.
const restShare = 50

// failedRest is how long the cleaner waits after a compaction that failed.
const failedRest = 30 * time.Second

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
		least := b.config.CleanInterval
		if b.rest() <= 0 && b.dirty() {
			if err := b.Compact(); err != nil {
				b.logger.Error("compact the embedded broker's log", "error", err)
				least = max(least, failedRest)
			}
		}
		timer.Reset(max(least, b.rest()))
	}
}

// rest returns how long the cleaner has to rest.
func (b *Broker) rest() time.Duration {
	b.mu.Lock()
	defer b.mu.Unlock()
	return time.Until(b.compacted.Add(restShare * b.compacting))
}

// dirty reports whether the log has been written to since it was compacted.
func (b *Broker) dirty() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.logBytes() != b.compactedBytes
}

// logBytes is the size of all segments. Files that come and go at the same time do
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
