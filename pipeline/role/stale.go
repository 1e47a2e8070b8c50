package role

import (
	"context"

	"lethe/ingest"
	"lethe/ingest/bus"
	"lethe/pipeline/wire"
)

// Former tells of the records of a topic that those write who lead, and nobody follows (Standing.Noted), which ones
// somebody wrote who led no more.
type Former struct {
	of bus.Topic
	// From is from where on there may be some that nobody has looked for.
	From map[bus.TopicPartition]int64
	ends map[bus.TopicPartition]int64
	// own is the epoch of this process.
	own int64
}

// Former begins to tell, for a process that is about to lead.
func (s *Standing) Former(ctx context.Context, b Bus, of bus.Topic) (f Former, err error) {
	if f.From, err = s.Unnoted(ctx, b, of); err != nil {
		return f, err
	}
	f.of = of
	f.ends, err = bus.EndsOf(ctx, b, of)
	f.own = s.journal.Epoch()
	return f, err
}

// Late reports whether a record is one of somebody who led no more.
func (f Former) Late(rec ingest.Record) bool {
	newest, tp := f.own-1, bus.TopicPartition{Topic: f.of, Partition: rec.Partition} // a record has the prefixed name
	if rec.Offset >= f.ends[tp] {
		newest = f.own
	}
	by, tells := wire.OwnerOf(rec)
	return tells && rec.Offset >= f.From[tp] && by.Generation < newest
}
