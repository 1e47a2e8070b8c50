package role

import (
	"context"
	"errors"

	"lethe/ingest/bus"
	"lethe/pipeline/wire"
)

// heard is what control.v1 tells of those who have led the role, up to a position. Brokers count generations of a
// group as long as they know it: it is forgotten when nobody was there for some days, or by hand. Then they begin
// anew, and readers, which leave out what is of an older generation than they have read of, would leave out all that
// who leads says from then on.
type heard struct {
	newest, next int64
	// base is what is added to the generations that brokers count, of which each is greater than the one before.
	base int64
}

// hear notes who wrote what was read of control.v1. Anybody may forge a record without a code.
func (l *Lead) hear(batch bus.Batch) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, rec := range batch.Records {
		by, tells := wire.OwnerOf(rec)
		if tells && rec.Unproven == "" && wire.LedBy(rec.Key) == l.role {
			l.heard.newest = max(l.heard.newest, by.Generation)
		}
	}
	l.heard.next = max(l.heard.next, batch.Next)
}

// heard notes who wrote a batch, where one process leads, and returns it.
func (f *Follower) heard(batch bus.Batch) bus.Batch {
	if s := f.around.Standing; s != nil && batch.Source.Topic == bus.Control {
		s.Lead.hear(batch)
	}
	return batch
}

// heardTo is up to where control.v1 was heard.
func (l *Lead) heardTo() int64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.heard.next
}

// succeed has this process go by a greater generation than everybody who was heard of.
func (l *Lead) succeed() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.heard.base = 0; l.heard.newest >= l.generation {
		l.heard.base = l.heard.newest
	}
}

// succeed hears what control.v1 tells up to a position, and has the process, which is to lead, go by a greater
// generation than everybody before it.
func (f *Follower) succeed(ctx context.Context, end int64) error {
	lead, from := f.around.Standing.Lead, bus.FromStart
	if at := lead.heardTo(); at > 0 {
		from = at
	}
	if lead.heardTo() < end {
		tail, err := f.around.Bus.Follow(map[bus.TopicPartition]int64{{Topic: bus.Control}: from})
		if err != nil {
			return err
		}
		defer tail.Close() //nolint:errcheck // nothing was written
		for lead.heardTo() < end {
			batch, err := tail.Next(ctx)
			if err != nil && (ctx.Err() != nil || !errors.Is(err, bus.ErrInterrupted)) {
				return err
			}
			lead.hear(batch)
		}
	}
	lead.succeed()
	return nil
}
