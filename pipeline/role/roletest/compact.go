package roletest

import (
	"context"
	"slices"

	"lethe/ingest"
	"lethe/ingest/bus"
)

// RollMarkers does nothing: every record of a Bus may be compacted at once.
func (b *Bus) RollMarkers(context.Context, ...bus.Topic) error { return nil }

// ReadEvery is ReadAll: there are no transactions.
func (b *Bus) ReadEvery(ctx context.Context, t bus.Topic, fn func(ingest.Record) error, _ func(*bus.Gap)) error {
	return b.ReadAll(ctx, t, fn)
}

// ReadCopies is ReadAll: there is one copy.
func (b *Bus) ReadCopies(
	ctx context.Context, t bus.Topic, fn func(broker int32, rec ingest.Record) error, around func(int32, *bus.Gap),
) ([]int32, error) {
	return nil, b.ReadAll(ctx, t, func(rec ingest.Record) error { return fn(bus.OneCopy, rec) })
}

// Holds reports whether a partition still has the record at an offset.
func (b *Bus) Holds(_ context.Context, tp bus.TopicPartition, offset int64) (bool, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.ContainsFunc(b.topics[tp.Topic][tp.Partition].records, func(rec ingest.Record) bool {
		return rec.Offset == offset
	}), nil
}

// Compact leaves the newest record of every key, and none of a key that was
// deleted last.
func (b *Bus) Compact() error { return b.CompactBelow(nil) }

// CompactBelow is Compact, but in the partitions that have a limit records from that
// offset on supersede nothing, unless they are deletions: those who read the partition
// have not come to them.
func (b *Bus) CompactBelow(limits map[bus.TopicPartition]int64) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	for topic, logs := range b.topics {
		for at := range logs {
			limit, limited := limits[bus.TopicPartition{Topic: topic, Partition: at}]
			newest := make(map[string]int64)
			for _, rec := range logs[at].records {
				if !limited || rec.Offset < limit || rec.Tombstone() {
					newest[string(rec.Key)] = rec.Offset
				}
			}
			logs[at].records = slices.DeleteFunc(slices.Clone(logs[at].records), func(rec ingest.Record) bool {
				last, known := newest[string(rec.Key)]
				return rec.Tombstone() || known && rec.Offset < last
			})
		}
	}
	return nil
}
