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

// Standing makes a Follower a leader or a standby.
type Standing struct {
	Lead *Lead
	// Term is the term of a leader, 0 for a standby: it applies the journal and publishes acknowledgements only.
	Term int64
	// Open are the topics besides the journal that a standby reads to their end before it takes over.
	Open []bus.Topic
	// journal is set once a leader has begun its epoch, and ends are the end offsets of topics at that time.
	journal *journal.Log
	ends    map[bus.TopicPartition]int64
}

// StandsBy reports whether the process is a standby.
func (s *Standing) StandsBy() bool { return s != nil && s.Term == 0 }

// fenced is a bus to which a process writes while it leads. Its records carry their owner.
type fenced struct {
	Bus
	*Standing
}

// Fenced returns a bus that rejects writes of a process that no longer leads with ErrLedElsewhere; b itself without a
// Standing and in a standby.
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

// Write writes to a bus while the process leads.
func (s *Standing) Write(ctx context.Context, b Bus, t bus.Topic, records []ingest.Outgoing) error {
	return s.Lead.write(ctx, s.Term, func(ctx context.Context, by wire.Owner) error {
		owned := records
		if internal(t) {
			owned = wire.OwnedBy(by, records)
		}
		if t == bus.Control {
			return s.Lead.numbering.write(ctx, owned, func(counted []ingest.Outgoing) error { return b.Write(ctx, t, counted) })
		}
		return b.Write(ctx, t, owned)
	})
}

// Ended is the end offset of a partition when this leader began its epoch.
func (s *Standing) Ended(tp bus.TopicPartition) int64 { return s.ends[tp] }

// Unprocessed returns the offsets from which topics may have records of previous leaders that are not processed:
// bus.FromStart for a partition without a committed offset.
func (s *Standing) Unprocessed(ctx context.Context, b Bus, of ...bus.Topic) (map[bus.TopicPartition]int64, error) {
	ends, err := bus.EndsOf(ctx, b, of...)
	if err != nil {
		return nil, err
	}
	announced, err := s.Lead.announced(ctx, slices.Collect(maps.Keys(ends)))
	if err != nil {
		return nil, err
	}
	for tp := range ends {
		at, known := announced[tp]
		if !known {
			at = bus.FromStart
		}
		if end, began := s.ends[tp]; began { // this process corrects late records behind it
			at = min(at, end)
		}
		ends[tp] = at
	}
	return ends, nil
}

// internal reports whether a topic's records have their owner in a header. Records of topics that others write too,
// and dead letters, have their original headers; entries of the journal contain their owner.
func internal(t bus.Topic) bool {
	switch t {
	case bus.Transactions, bus.Labels, bus.Erasures, bus.DeadLetters, bus.Journal:
		return false
	default:
		return true
	}
}

// hot is a role of several processes of which one leads. This process is a standby until it becomes the leader, and
// again when another one does. Each change opens the role again, as after a crash, from where everything is known to
// work.
type hot struct {
	name string
	lead *Lead
	open func(ctx context.Context, s *Standing) (*Follower, error)

	mu       sync.Mutex
	now      *Follower // nil while it is closed
	standing int64
	status   atomic.Pointer[Status]
}

// Hot returns the role of a process that is leader or standby, which open opens as either. It is opened as standby at
// once.
func Hot(
	ctx context.Context, name string, lead *Lead, open func(ctx context.Context, s *Standing) (*Follower, error),
) (Role, error) {
	h := &hot{name: name, lead: lead, open: open}
	if err := h.openFor(ctx, 0); err != nil {
		return nil, err
	}
	h.status.Store(h.now.Status())
	return h, nil
}

// openFor opens the role for a term.
func (h *hot) openFor(ctx context.Context, term int64) error {
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
	group.Go(func() error { return h.runTerms(running) })
	return wire.UnlessStopped(ctx, group.Wait())
}

func (h *hot) runTerms(ctx context.Context) error {
	for ctx.Err() == nil {
		if h.now == nil {
			term := h.lead.Next(h.standing)
			switch err := h.openFor(ctx, term); {
			case errors.Is(err, ErrLedElsewhere):
				continue
			case err != nil:
				return err
			case term > 0:
				h.lead.log.Info(h.name + ": continues as the leader")
			}
		}
		if err := h.runOpen(ctx); err != nil {
			return err
		}
		if err := h.Close(); err != nil {
			return err
		}
	}
	return ctx.Err()
}

// runOpen runs the open role until the process changes between leader and standby.
func (h *hot) runOpen(ctx context.Context) error {
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
	h.Status() // the last status
	h.mu.Lock()
	defer h.mu.Unlock()
	f := h.now
	if h.now = nil; f == nil {
		return nil
	}
	return f.Close()
}
