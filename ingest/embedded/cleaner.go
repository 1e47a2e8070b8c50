package embedded

import (
	"io/fs"
	"path/filepath"
	"strings"
	"time"

	"lethe/ingest/bus"
)

// restShare is the ratio of the pause after a compaction to its duration: the cleaner stops the broker for at most a
// fiftieth of the time. Requested compactions count too, so that publishing the next erasure is not delayed by
// compacting the previous one.
const restShare = 50

// failedRest is the pause after a compaction that failed.
const failedRest = 30 * time.Second

// Thresholds for a compaction. It reads and writes every byte of the log, 4 ns each, even if
// nothing is removed, and delays provisional scores meanwhile.
const (
	// smallLog is a size whose compaction takes a negligible time.
	smallLog = 4 << 20
	// quietShare and busyShare are the percentages of the log that must be new before it is
	// compacted, without and with incoming transactions. Kafka's cleaner uses 50
	// (min.cleanable.dirty.ratio), but does not block requests.
	quietShare, busyShare = 10, 75
)

// logSize is the size of all segments in bytes, and of those of two topics. erasures.v1 grows
// whenever an erasure waits for records to be cleaned.
type logSize struct{ all, transactions, erasures int64 }

// due reports whether a log of size now should be compacted; left is its size after the previous
// compaction. Before the first compaction after a start, left is zero, and from is the size at the
// start. quiet means that no transactions are arriving.
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

// clean compacts at intervals if the log has grown. It measures bytes on disk rather than requests,
// so that it is independent of request handling.
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

// rest returns how long the cleaner must still pause.
func (b *Broker) rest() time.Duration {
	b.mu.Lock()
	defer b.mu.Unlock()
	return time.Until(b.compacted.Add(restShare * b.compacting))
}

// sizeLeft returns the size after the previous compaction.
func (b *Broker) sizeLeft() logSize {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.left
}

// size measures the log. Files that are created or deleted concurrently do not matter.
func (b *Broker) size() (sum logSize) {
	_ = filepath.WalkDir(partitionsDir(b.dir), func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || filepath.Ext(path) != ".dat" {
			return nil //nolint:nilerr // a deleted file has no size
		}
		info, err := entry.Info()
		if err != nil {
			return nil //nolint:nilerr // the same for this one
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
