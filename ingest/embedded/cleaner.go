package embedded

import (
	"io/fs"
	"path/filepath"
	"strings"
	"time"

	"lethe/ingest/bus"
)

// restShare is how much longer than a compaction the pause after it is: the
// cleaner stops the broker for at most a fiftieth of the time. One that was asked for
// counts: what the next erasure publishes is not held up by a compaction of what the
// one before has left.
const restShare = 50

// failedRest is how long the cleaner waits after a compaction that failed.
const failedRest = 30 * time.Second

// What a compaction is worth its stop for. Every byte of the log is read and written by it,
// 4 ns each, also where nothing goes, and provisional scores wait that long.
const (
	// smallLog is compacted in less time than anybody waits for.
	smallLog = 4 << 20
	// quietShare and busyShare are the parts of a log in percent that have to be new, for
	// it to be compacted while no transactions come in and while they do. Kafka's cleaner
	// asks for 50 (min.cleanable.dirty.ratio), but nobody waits for it.
	quietShare, busyShare = 10, 75
)

// logSize is the size of all segments in bytes, and of those of two topics. To erasures.v1
// something is written whenever somebody waits for records to go.
type logSize struct{ all, transactions, erasures int64 }

// due tells whether a log of size now, which the compaction before left with the size
// left, is to be compacted. Before the first one of a start left is zero, and from is what
// the start found. quiet says that no transactions come in.
func due(now, left logSize, from int64, quiet bool) bool {
	if left != (logSize{}) {
		from = left.all
	}
	share := int64(busyShare)
	if quiet {
		share = quietShare
	}
	switch {
	case now.all == left.all:
		return false
	case now.all < smallLog, now.erasures != left.erasures:
		return true
	default:
		return (now.all-from)*100 >= now.all*share
	}
}

// clean compacts from time to time when something was written. It counts
// bytes on disk rather than requests, so that it needs no part in them.
func (b *Broker) clean(from int64) {
	if b.config.CleanOnDemand {
		return
	}
	timer := time.NewTimer(b.config.CleanInterval)
	defer timer.Stop()
	var before logSize
	for {
		select {
		case <-b.stop:
			return
		case <-timer.C:
		}
		least := b.config.CleanInterval
		now := b.size()
		if b.rest() <= 0 && due(now, b.sizeLeft(), from, now.transactions == before.transactions) {
			if err := b.Compact(); err != nil {
				b.logger.Error("compact the embedded broker's log", "error", err)
				least = max(least, failedRest)
			}
		}
		before = now
		timer.Reset(least)
	}
}

// rest returns how long the cleaner has to rest.
func (b *Broker) rest() time.Duration {
	b.mu.Lock()
	defer b.mu.Unlock()
	return time.Until(b.compacted.Add(restShare * b.compacting))
}

// sizeLeft returns the size that the compaction before left.
func (b *Broker) sizeLeft() logSize {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.left
}

// size measures the log. Files that come and go at the same time do not matter.
func (b *Broker) size() (sum logSize) {
	_ = filepath.WalkDir(partitionsDir(b.dir), func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || filepath.Ext(path) != ".dat" {
			return nil //nolint:nilerr // a file that is gone has no size
		}
		info, err := entry.Info()
		if err != nil {
			return nil //nolint:nilerr // neither has this one
		}
		sum.all += info.Size()
		switch topic := filepath.Base(filepath.Dir(path)); {
		case strings.Contains(topic, string(bus.Transactions)):
			sum.transactions += info.Size()
		case strings.Contains(topic, string(bus.Erasures)):
			sum.erasures += info.Size()
		}
		return nil
	})
	return sum
}
