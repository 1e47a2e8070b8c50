package roletest

import (
	"context"
	"slices"

	"lethe/ingest"
	"lethe/ingest/bus"
)

// RollMarkers does nothing: every record of a Bus may be compacted at once.
func (b *Bus) RollMarkers(context.Context, ...bus.Topic) error { return nil }

// Compact leaves the newest record of every key, and none of a key that was
// deleted last.
func (b *Bus) Compact() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, logs := range b.topics {
		for at := range logs {
			newest := make(map[string]int64)
			for _, rec := range logs[at].records {
				newest[string(rec.Key)] = rec.Offset
			}
			logs[at].records = slices.DeleteFunc(slices.Clone(logs[at].records), func(rec ingest.Record) bool {
				return newest[string(rec.Key)] != rec.Offset || rec.Tombstone()
			})
		}
	}
	return nil
}
