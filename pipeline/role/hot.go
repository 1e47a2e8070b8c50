package role

import (
	"context"
	"errors"
	"maps"
	"slices"
	"sync"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"lethe/ingest"
	"lethe/ingest/bus"
	"lethe/pipeline/journal"
	"lethe/pipeline/wire"
)

// Standing says that a Follower belongs to a process that may lead its role or stand by.
type Standing struct {
	Lead *Lead
	// Term is the one in which the process leads, 0 if it stands by: then it does what the journal says, and publishes
	// nothing but acknowledgements.
	Term int64
	// Open are the topics that it reads to their end before it leads, beside the journal.
	Open []bus.Topic
	// journal is set once the process, which leads, has begun an epoch, and ends is where topics ended then.
	journal *journal.Log
	ends    map[bus.TopicPartition]int64
}

// StandsBy reports whether the process stands by and so publishes nothing.
func (s *Standing) StandsBy() bool { return s != nil && s.Term == 0 }

// fenced is a bus to which a leader writes, as long as it leads. Every record says who wrote it.
type fenced struct {
	Bus
	*Standing
}

// Fenced returns a bus that refuses what is written by a process that leads no more, with
// ErrLedElsewhere; b itself without a Standing.
func (s *Standing) Fenced(b Bus) Bus {
	if s == nil || s.Term == 0 {
		return b
	}
	return fenced{b, s}
}

// Write implements Bus.
func (f fenced) Write(ctx context.Context, t bus.Topic, records []ingest.Outgoing) error {
	return f.Standing.Write(ctx, f.Bus, t, records)
}

// Write writes to a bus, as long as the process leads.
func (s *Standing) Write(ctx context.Context, b Bus, t bus.Topic, records []ingest.Outgoing) error {
	return s.Lead.write(ctx, s.Term, func(ctx context.Context, by wire.Owner) error {
		owned := records
		if internal(t) {
			owned = wire.OwnedBy(by, records)
		}
		if t == bus.Control {
			return s.Lead.sayings.write(ctx, owned, func(counted []ingest.Outgoing) error { return b.Write(ctx, t, counted) })
		}
		return b.Write(ctx, t, owned)
	})
}

// Ended is where a partition ended as this process, which leads, began its epoch.
func (s *Standing) Ended(tp bus.TopicPartition) int64 { return s.ends[tp] }

// Unnoted returns from where on topics may hold what who led before has written, and this process
// has not noted: a position for each partition, bus.FromStart where nothing was announced.
func (s *Standing) Unnoted(ctx context.Context, b Bus, of ...bus.Topic) (map[bus.TopicPartition]int64, error) {
	ends, err := bus.EndsOf(ctx, b, of...)
	if err != nil {
		return nil, err
	}
	noted, err := s.Lead.announced(ctx, slices.Collect(maps.Keys(ends)))
	if err != nil {
		return nil, err
	}
	for tp := range ends {
		at, said := noted[tp]
		if !said {
			at = bus.FromStart
		}
		if end, began := s.ends[tp]; began { // what is late behind it is this process's to put right
			at = min(at, end)
		}
		ends[tp] = at
	}
	return ends, nil
}

// internal reports whether the headers of a topic's records tell who wrote them: those that others write too,
// and dead letters, have the headers that they came with, and entries of the journal tell it themselves.
func internal(t bus.Topic) bool {
	switch t {
	case bus.Transactions, bus.Labels, bus.Erasures, bus.DeadLetters, bus.Journal:
		return false
	default:
		return true
	}
}

// hot is a role that one of several processes plays: this one stands by, with stores that follow,
// until it leads, and again once another one does. Each time the role is opened anew, as after a
// crash, which is what taking over is: what comes next is known to work from there.
type hot struct {
	name string
	lead *Lead
	open func(ctx context.Context, s *Standing) (*Follower, error)

	mu       sync.Mutex
	now      *Follower // nil while none is open
	standing int64
	status   atomic.Pointer[Status]
}

// Hot returns the role of a process that leads it or stands by, which open opens either way. It
// is opened, standing by, at once.
func Hot(
	ctx context.Context, name string, lead *Lead, open func(ctx context.Context, s *Standing) (*Follower, error),
) (Role, error) {
	h := &hot{name: name, lead: lead, open: open}
	if err := h.turn(ctx, 0); err != nil {
		return nil, err
	}
	h.status.Store(h.now.Status())
	return h, nil
}

// turn opens the role for a term.
func (h *hot) turn(ctx context.Context, term int64) error {
	f, err := h.open(ctx, &Standing{Lead: h.lead, Term: term})
	if err != nil {
		return err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.now, h.standing = f, term
	return nil
}

// Name implements Role.
func (h *hot) Name() string { return h.name }

// Status implements Role.
func (h *hot) Status() *Status {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.now != nil {
		h.status.Store(h.now.Status())
	}
	return h.status.Load()
}

// Run implements Role.
func (h *hot) Run(ctx context.Context) error {
	group, running := errgroup.WithContext(ctx)
	group.Go(func() error { return h.lead.Run(running) })
	group.Go(func() error { return h.takeTurns(running) })
	return wire.UnlessStopped(ctx, group.Wait())
}

func (h *hot) takeTurns(ctx context.Context) error {
	for ctx.Err() == nil {
		if h.now == nil {
			term := h.lead.Next(h.standing)
			switch err := h.turn(ctx, term); {
			case errors.Is(err, ErrLedElsewhere):
				continue
			case err != nil:
				return err
			case term > 0:
				h.lead.log.Info(h.name + ": goes on as the leader")
			}
		}
		if err := h.play(ctx); err != nil {
			return err
		}
		if err := h.Close(); err != nil {
			return err
		}
	}
	return ctx.Err()
}

// play plays the role as it is open, until that is no longer what the process is to do.
func (h *hot) play(ctx context.Context) error {
	var watching sync.WaitGroup
	defer watching.Wait()
	during, stop := context.WithCancel(ctx)
	defer stop()
	if term := h.standing; term > 0 {
		watching.Go(func() {
			_, _ = h.lead.until(during, term)
			stop()
		})
	}
	err := h.now.Run(during)
	if errors.Is(err, ErrLedElsewhere) || errors.Is(err, errPrepared) {
		return nil
	}
	return err
}

// Close implements Role.
func (h *hot) Close() error {
	h.Status() // what is known last
	h.mu.Lock()
	defer h.mu.Unlock()
	f := h.now
	if h.now = nil; f == nil {
		return nil
	}
	return f.Close()
}
