package role

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"lethe/ingest"
	"lethe/ingest/bus"
	"lethe/pipeline/wire"
)

// heard is what control.v1 tells of those who have led the role, up to a position. Brokers count generations of a
// group as long as they know it: it is forgotten when nobody was there for some days, or by hand. Then they begin
// anew, and readers, which leave out what is of an older generation than they have read of, would leave out all that
// who leads says from then on.
type heard struct {
	mu           sync.Mutex
	newest, next int64
	// base is what is added to the generations that brokers count, of which each is greater than the one before.
	base int64
}

// hear notes who wrote what was read of control.v1 as the leader of a role. Anybody may forge a record without a code.
func (h *heard) hear(role string, batch bus.Batch) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, rec := range batch.Records {
		by, tells := wire.OwnerOf(rec)
		if tells && rec.Unproven == "" && wire.LedBy(rec.Key) == role {
			h.newest = max(h.newest, by.Generation)
		}
	}
	h.next = max(h.next, batch.Next)
}

// to is up to where control.v1 was heard.
func (h *heard) to() int64 {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.next
}

// counted returns a generation, as brokers count it, as records tell it.
func (h *heard) counted(generation int64) int64 {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.base + generation
}

// succeed has a generation and those behind it be greater than all that were heard of.
func (h *heard) succeed(generation int64) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.base = 0; h.newest >= generation {
		h.base = h.newest
	}
}

// heard notes who wrote a batch, where one process leads, and returns it.
func (f *Follower) heard(batch bus.Batch) bus.Batch {
	if s := f.around.Standing; s != nil && batch.Source.Topic == bus.Control {
		s.Lead.heard.hear(s.Lead.role, batch)
	}
	return batch
}

// hearLeaders hears who leads the graphs before anything that such a one wrote is read: what is late of those before it
// is not told where reading goes on.
func (f *Follower) hearLeaders(ctx context.Context) error {
	reads := func(t bus.Topic) bool { return (t == bus.Snapshots || t == bus.Slices) && !f.around.raw(t) }
	if !slices.ContainsFunc(f.logic.Topics(), reads) {
		return nil
	}
	err := f.around.Bus.ReadAll(ctx, bus.Control, func(rec ingest.Record) error {
		f.hearLeader(rec)
		return nil
	})
	if err != nil {
		return fmt.Errorf("who leads: %w", err)
	}
	return nil
}

// hearLeader notes who leads the graphs, if a record of control.v1 says so.
func (f *Follower) hearLeader(rec ingest.Record) {
	led, tells := wire.LedBehind(rec)
	if !tells || led.By.Before(f.led.By) {
		return
	}
	f.led = led
	for _, reader := range f.readers {
		reader.Behind(led)
	}
}

// succeed hears what control.v1 tells up to a position, and has the process, which is to lead, go by a greater
// generation than everybody before it.
func (f *Follower) succeed(ctx context.Context, end int64) error {
	lead, from := f.around.Standing.Lead, bus.FromStart
	if at := lead.heard.to(); at > 0 {
		from = at
	}
	if lead.heard.to() < end {
		tail, err := f.around.Bus.Follow(map[bus.TopicPartition]int64{{Topic: bus.Control}: from})
		if err != nil {
			return err
		}
		defer tail.Close() //nolint:errcheck // nothing was written
		for lead.heard.to() < end {
			batch, err := tail.Next(ctx)
			if err != nil && (ctx.Err() != nil || !errors.Is(err, bus.ErrInterrupted)) {
				return err
			}
			lead.heard.hear(lead.role, batch)
		}
	}
	lead.mu.Lock()
	defer lead.mu.Unlock()
	lead.heard.succeed(lead.generation)
	return nil
}
