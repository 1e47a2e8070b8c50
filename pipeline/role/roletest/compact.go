package roletest

import (
	"context"
	"slices"

	"lethe/ingest"
	"lethe/ingest/bus"
)

// RollMarkers does nothing: every record of a Bus may be compacted at once.
func (b *Bus) RollMarkers(context.Context, ...bus.Topic) error { return nil }

// ReadCopies is ReadEvery: there is one copy.
func (b *Bus) ReadCopies(
	ctx context.Context, t bus.Topic, fn func(broker int32, rec ingest.Record) error, around func(int32, *bus.Gap),
) ([]int32, error) {
	return nil, b.ReadEvery(ctx, t, func(rec ingest.Record) error { return fn(bus.OneCopy, rec) }, func(gap *bus.Gap) {
		if around != nil {
			around(bus.OneCopy, gap)
		}
	})
}

// Holds reports whether a partition still has the record at an offset.
func (b *Bus) Holds(_ context.Context, tp bus.TopicPartition, offset int64) (bool, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.ContainsFunc(b.topics[tp.Topic][tp.Partition].records, func(rec ingest.Record) bool {
		return rec.Offset == offset
	}), nil
}

// Compact retains the newest record of every key, and none of a deleted one. From an open transaction on, all records
// stay and supersede nothing. Records of aborted transactions outlast abortedStay compactions.
func (b *Bus) Compact() error { return b.CompactBelow(nil) }

// CompactBelow is Compact, but in partitions with a limit, records from that offset on supersede nothing unless they
// are deletions: consumers of the partition have not reached them.
func (b *Bus) CompactBelow(limits map[bus.TopicPartition]int64) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	for topic, logs := range b.topics {
		for at := range logs {
			limit, limited := limits[bus.TopicPartition{Topic: topic, Partition: at}]
			newest := make(map[string]int64)
			for _, rec := range logs[at].records {
				if rec.Uncommitted != "" || rec.Offset >= logs[at].stable() {
					continue
				}
				if !limited || rec.Offset < limit || rec.Tombstone() {
					newest[string(rec.Key)] = rec.Offset
				}
			}
			cleaned, stable := logs[at].clean(), logs[at].stable()
			logs[at].records = slices.DeleteFunc(slices.Clone(logs[at].records), func(rec ingest.Record) bool {
				if rec.Uncommitted != "" {
					return rec.Offset < cleaned
				}
				if rec.Offset >= stable {
					return false
				}
				last, known := newest[string(rec.Key)]
				return rec.Tombstone() || known && rec.Offset < last
			})
		}
	}
	return nil
}

// abortedStay is the number of compactions that records of aborted transactions outlast: brokers clean in their own
// time.
const abortedStay = 4

// clean returns the offset up to which records of aborted transactions are now removed.
func (p *partition) clean() (before int64) {
	if p.cleaned = append(p.cleaned, p.stable()); len(p.cleaned) > abortedStay {
		before, p.cleaned = p.cleaned[0], p.cleaned[1:]
	}
	return before
}
