package role

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"lethe/ingest/bus"
)

// gate is the reading end of a process that stands by: it gives a batch once who leads has dealt
// with all of it. So what this process does with the batch was published by the other one, and if
// it takes over it goes on behind that, as after a crash.
type gate struct {
	Tail
	lead *Lead
	// open are the topics that are read without waiting.
	open map[bus.Topic]bool
	of   []bus.TopicPartition
	// waiting are batches that were read ahead, in order for each partition, and held how much
	// they hold.
	waiting []bus.Batch
	held    int
	// announced is up to where the leader is, asked when.
	announced map[bus.TopicPartition]int64
	asked     time.Time
}

const (
	// gateBatches and gateBytes bound what is read ahead.
	gateBatches = 256
	gateBytes   = 64 << 20
	// gateEvery is how often it is asked how far the leader is.
	gateEvery = 100 * time.Millisecond
)

func newGate(tail Tail, lead *Lead, positions map[bus.TopicPartition]int64, open []bus.Topic) *gate {
	g := &gate{Tail: tail, lead: lead, open: make(map[bus.Topic]bool)}
	for _, topic := range open {
		g.open[topic] = true
	}
	for tp := range positions {
		g.of = append(g.of, tp)
	}
	return g
}

// Next implements Tail.
func (g *gate) Next(ctx context.Context) (bus.Batch, error) {
	for {
		if len(g.waiting) > 0 {
			if err := g.ask(ctx); err != nil {
				return bus.Batch{}, err
			}
			if batch, found := g.release(); found {
				return batch, nil
			}
		}
		batch, err := g.read(ctx)
		switch {
		case errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil:
			continue // it is time to ask again
		case err != nil:
			// Stopped while it was time to ask again, it was stopped.
			return bus.Batch{}, cmp.Or(ctx.Err(), err)
		case g.passes(batch):
			return batch, nil
		}
		g.waiting, g.held = append(g.waiting, batch), g.held+sizeOf(batch)
	}
}

// read reads ahead, for as long as it need not be asked again how far the leader is.
func (g *gate) read(ctx context.Context) (bus.Batch, error) {
	if len(g.waiting) == 0 {
		return g.Tail.Next(ctx)
	}
	until, cancel := context.WithDeadline(ctx, g.asked.Add(gateEvery))
	defer cancel()
	if len(g.waiting) < gateBatches && g.held < gateBytes {
		batch, err := g.Tail.Next(until)
		if err != nil && until.Err() != nil && ctx.Err() == nil {
			err = context.DeadlineExceeded
		}
		return batch, err
	}
	<-until.Done()
	return bus.Batch{}, until.Err()
}

// ask asks how far the leader is, every now and then.
func (g *gate) ask(ctx context.Context) error {
	if time.Since(g.asked) < gateEvery {
		return nil
	}
	announced, err := g.lead.announced(ctx, g.of)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err == nil { // else brokers are away, which whoever reads says
		g.announced = announced
	}
	g.asked = time.Now()
	return nil
}

// release gives the first batch that waits for nothing more.
func (g *gate) release() (bus.Batch, bool) {
	tried := make(map[bus.TopicPartition]bool)
	for i, batch := range g.waiting {
		if tried[batch.Source] || !g.dealt(batch.Source, batch.Next) {
			tried[batch.Source] = true
			continue
		}
		g.waiting = append(g.waiting[:i:i], g.waiting[i+1:]...)
		g.held -= sizeOf(batch)
		return batch, true
	}
	return bus.Batch{}, false
}

// passes reports whether a batch need not wait.
func (g *gate) passes(batch bus.Batch) bool {
	isBefore := func(waits bus.Batch) bool { return waits.Source == batch.Source }
	return g.open[batch.Source.Topic] ||
		g.dealt(batch.Source, batch.Next) && !slices.ContainsFunc(g.waiting, isBefore)
}

// dealt reports whether the leader has dealt with a partition up to a position.
func (g *gate) dealt(tp bus.TopicPartition, next int64) bool {
	at, said := g.announced[tp]
	return said && next <= at
}

// reached waits until the leader has dealt with all that this process has: it may have led itself,
// and have noted more than others have made since.
func (g *gate) reached(ctx context.Context, positions map[bus.TopicPartition]int64) error {
	for {
		if err := g.ask(ctx); err != nil {
			return err
		}
		reached := true
		for tp, at := range positions {
			reached = reached && (at <= 0 || g.open[tp.Topic] || g.dealt(tp, at))
		}
		// Who leads itself by now has nobody to wait for.
		if term, _ := g.lead.leading(); reached || term > 0 {
			return nil
		}
		select {
		case <-time.After(gateEvery):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

func sizeOf(batch bus.Batch) (n int) {
	for _, r := range batch.Records {
		n += len(r.Key) + len(r.Value)
	}
	return n
}

// prepared waits until the topics that are read without waiting for the leader were read up to
// where they end now, or the role has ended. It is for a process that is about to lead.
func (f *Follower) prepared(ctx context.Context, ended <-chan struct{}) error {
	s := f.around.Standing
	for _, topic := range s.Open {
		ends, err := bus.EndsOf(ctx, f.around.Bus, topic)
		if err != nil {
			return err
		}
		for tp, end := range ends {
			for max(0, s.Lead.positions()[tp]) < end {
				select {
				case <-ended:
					return nil
				case <-ctx.Done():
					return ctx.Err()
				case <-time.After(gateEvery / 10):
				}
			}
		}
	}
	return nil
}
