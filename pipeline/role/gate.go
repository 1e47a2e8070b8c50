package role

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	"lethe/ingest/bus"
)

// gate is the reading end of a process that stands by: it gives a batch once who leads has dealt
// with all of it. So what this process does with the batch was published by the other one, and if
// it takes over it goes on behind that, as after a crash.
type gate struct {
	Tail
	// life is the context of the role. Brokers are asked in it and not in that of a single Next, which ends
	// whenever the role is woken: a broker that hangs would be asked again and again, and never given up.
	life context.Context //nolint:containedctx // as above
	lead *Lead
	// open are the topics that are read without waiting; only says that nothing else is.
	open map[bus.Topic]bool
	only bool
	of   []bus.TopicPartition
	// waiting are batches that were read ahead, in order for each partition, and held how much
	// they hold.
	waiting []bus.Batch
	held    int
	// given is up to where partitions were given.
	given map[bus.TopicPartition]int64
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

func newGate(life context.Context, tail Tail, s *Standing, positions map[bus.TopicPartition]int64) *gate {
	g := &gate{
		Tail: tail, life: life, lead: s.Lead, open: make(map[bus.Topic]bool), given: maps.Clone(positions),
	}
	for _, topic := range s.reads() {
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
			if err := g.ask(); err != nil {
				return bus.Batch{}, err
			}
			if batch, found := g.release(); found {
				return g.give(batch), nil
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
			return g.give(batch), nil
		}
		g.waiting, g.held = append(g.waiting, batch), g.held+sizeOf(batch)
	}
}

// give notes what is given.
func (g *gate) give(batch bus.Batch) bus.Batch {
	g.given[batch.Source] = batch.Next
	return batch
}

// read reads ahead, for as long as it need not be asked again how far the leader is. Once so much waits, topics
// that wait for nobody are read alone: what stands there may be what the process reads before it leads.
func (g *gate) read(ctx context.Context) (bus.Batch, error) {
	if len(g.waiting) == 0 {
		return g.Tail.Next(ctx)
	}
	until, cancel := context.WithTimeout(ctx, gateEvery-g.lead.now().Sub(g.asked))
	defer cancel()
	var batch bus.Batch
	var err error
	if len(g.waiting) < gateBatches && g.held < gateBytes {
		batch, err = g.Tail.Next(until)
	} else {
		batch, err = g.NextOf(until, g.open)
	}
	if err != nil && until.Err() != nil && ctx.Err() == nil {
		err = context.DeadlineExceeded
	}
	return batch, err
}

// ask asks how far the leader is, every now and then.
func (g *gate) ask() error {
	ctx := g.life
	if g.lead.now().Sub(g.asked) < gateEvery {
		return nil
	}
	announced, err := g.lead.announced(ctx, g.of)
	switch {
	case err == nil:
		g.announced = announced
	case ctx.Err() != nil:
		return ctx.Err()
	default: // brokers are away, which whoever reads says
	}
	g.asked = g.lead.now()
	return nil
}

// release gives the first batch that waits for nothing more.
func (g *gate) release() (bus.Batch, bool) {
	tried := make(map[bus.TopicPartition]bool)
	for i, batch := range g.waiting {
		if tried[batch.Source] {
			continue
		}
		tried[batch.Source] = true
		if g.dealt(batch.Source, batch.Next) {
			g.waiting = append(g.waiting[:i:i], g.waiting[i+1:]...)
			g.held -= sizeOf(batch)
			return batch, true
		}
		if at := g.announced[batch.Source]; at > g.given[batch.Source] && batch.Gap == nil && !g.only {
			head, rest := cutAt(batch, at)
			g.waiting[i] = rest
			g.held -= sizeOf(head)
			return head, true
		}
	}
	return bus.Batch{}, false
}

// cutAt cuts a batch where who leads has cut the partition into batches of its own. Compaction may
// have left nothing before.
func cutAt(batch bus.Batch, at int64) (head, rest bus.Batch) {
	n := 0
	for n < len(batch.Records) && batch.Records[n].Offset < at {
		n++
	}
	head, rest = batch, batch
	head.Records, head.Next, rest.Records = batch.Records[:n:n], at, batch.Records[n:]
	return head, rest
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
	return said && next <= at && !g.only
}

// reached reports whether the leader has dealt with all that this process has: it may have led
// itself, and have noted more than others have made since.
func (g *gate) reached(positions map[bus.TopicPartition]int64) (bool, error) {
	if err := g.ask(); err != nil {
		return false, err
	}
	for tp, at := range positions {
		if at > 0 && !g.open[tp.Topic] && !g.dealt(tp, at) {
			return false, nil
		}
	}
	return true, nil
}

func sizeOf(batch bus.Batch) (n int) {
	for _, r := range batch.Records {
		n += len(r.Key) + len(r.Value)
	}
	return n
}
