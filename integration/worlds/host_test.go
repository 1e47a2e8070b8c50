package worlds

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"lethe/ingest"
	"lethe/ingest/bus"
	"lethe/pipeline/graphs"
	"lethe/pipeline/role"
	"lethe/pipeline/role/roletest"
	"lethe/pipeline/score"
)

const (
	ofGraphs = "graphs"
	ofScore  = "score"
	ofTrain  = "train"
	ofView   = "view"
)

// host is a process that leads a role or stands by. What it does in a turn is what role.Hot has
// it do; a turn may end in the midst, before something is written to a topic.
type host struct {
	d       *deployment
	group   *group
	number  int
	process string
	lead    *role.Lead
	member  membership
	leave   func() error
	heard   *graphs.Handover
	// now is the role as it is open for a term, 0 for standing by, or nil.
	now  *running
	term int64
	// ending says that nobody sleeps any more.
	ending bool
	thread
}

// begin begins a process, which stands by at first.
func (d *deployment) begin(ctx context.Context, g *group, number int) error {
	s := seat{make(chan membership, 1), g}
	h := &host{d: d, group: g, number: number, heard: new(graphs.Handover)}
	var err error
	if h.process, err = d.run(ctx, g.role, g.name(number), false); err != nil {
		return err
	}
	h.lead = role.NewLead(g.role, g.name(number), s, d.clock.Now, slog.New(slog.DiscardHandler))
	beside, cancel := context.WithCancel(ctx)
	ended := make(chan error, 1)
	go func() { ended <- h.lead.Run(beside) }()
	h.member = <-s.taken
	h.leave = func() error {
		cancel()
		return <-ended
	}
	if err := h.open(ctx, 0); err != nil {
		return errors.Join(err, h.leave())
	}
	g.hosts[number], g.away[number], g.hangs[number] = h, false, false
	if number == g.newcomer {
		g.newcomer = nobody
	}
	return nil
}

// open opens the role for a term.
func (h *host) open(ctx context.Context, term int64) error {
	as := &role.Standing{Lead: h.lead, Term: term}
	follower, err := h.opened(ctx, as)
	if err != nil {
		return err
	}
	h.now, h.term = &running{follower: follower}, term
	if h.now.session, err = roletest.Begin(ctx, follower); err != nil {
		return errors.Join(err, h.close())
	}
	return nil
}

func (h *host) opened(ctx context.Context, as *role.Standing) (*role.Follower, error) {
	writes := written{h.d.topics, &h.thread}
	if h.group.role == ofScore {
		o := h.d.scoreOptions(h.group.folder(h.number), h.group.name(h.number))
		o.Bus, o.Standing, o.Run = as.Fenced(writes), as, h.process
		return score.New(ctx, o)
	}
	o := h.d.graphsOptions(h.group.folder(h.number), h.d.receiptsOf(h.number))
	o.Instance, o.Run, o.Clock, o.Bus = h.group.name(h.number), h.process, ownClock{h}, writes
	o.Beside = func(run func()) { h.d.searches = append(h.d.searches, search{run, h.d.patience, h}) }
	if !as.StandsBy() {
		o.Bus = fenced{writes, as}
	}
	return graphs.As(ctx, o, as, h.heard)
}

// turn gives the process a turn, in the midst of which it may hang, and reports whether there was
// anything to do.
func (h *host) turn(ctx context.Context) (busy bool, err error) {
	if h.now != nil {
		over, err := h.isOver(ctx)
		if err == nil && over {
			err = h.close()
		}
		if err != nil {
			return false, err
		}
	}
	if h.now == nil {
		return true, h.open(ctx, h.lead.Next(h.term))
	}
	return h.now.session.Poll(ctx)
}

// isOver reports whether the role is to be closed, to be opened for another term: who is to lead
// reads first what it is not to miss.
func (h *host) isOver(ctx context.Context) (bool, error) {
	if h.term > 0 {
		return h.lead.Term() != h.term, nil
	}
	return h.now.follower.Prepared(ctx)
}

// close closes the role. What runs beside it ends with it.
func (h *host) close() error {
	if h.now == nil {
		return nil
	}
	h.ending = true
	defer func() { h.ending = false }()
	h.d.endSearches(h)
	now := h.now
	h.now = nil
	var err error
	if now.session != nil {
		err = now.session.Close()
	}
	return errors.Join(err, now.follower.Close())
}

// give has the process do something in a turn. That it leads no more ends what it did, and nothing
// else.
func (h *host) give(ctx context.Context, what func() (bool, error)) (busy bool, err error) {
	switch {
	case h.hangs():
		return false, nil
	case h.waits():
		return true, nil
	case h.hung:
		return h.after(true, h.resume())
	case h.fault == nil:
		return h.after(what())
	}
	err = h.run(func() error {
		var err error
		busy, err = what()
		return err
	})
	return h.after(busy, err)
}

func (h *host) hangs() bool { return h.group.hangs[h.number] }

// after is what follows a turn that came to its end, or in which the process hung.
func (h *host) after(busy bool, err error) (bool, error) {
	switch {
	case errors.Is(err, errHangs) && h.fault.turns > 0:
		return true, nil // brokers wait that long
	case errors.Is(err, errHangs):
		h.group.hangs[h.number] = true
		h.group.elect()
		return true, nil
	case errors.Is(err, role.ErrLedElsewhere):
		return true, h.close()
	case err != nil:
		return busy, fmt.Errorf("%s of process %d: %w", h.group.role, h.number+1, err)
	default:
		return busy, nil
	}
}

// end ends the process. What runs beside it comes to its end with it, but as it is killed nothing of that is written:
// another process may lead by now, of which it has not heard.
func (h *host) end() error {
	h.abandon()
	h.killed = true
	err := h.close()
	return errors.Join(err, h.leave())
}

// fenced are the topics to which a leader of graphs writes, as long as it leads.
type fenced struct {
	written
	as *role.Standing
}

// Write implements role.Bus.
func (f fenced) Write(ctx context.Context, topic bus.Topic, records []ingest.Outgoing) error {
	return f.as.Write(ctx, f.written, topic, records)
}

// ownClock is the clock of a process.
type ownClock struct{ *host }

// Now implements search.Clock.
func (c ownClock) Now() time.Time { return c.d.clock.Now() }

// Sleep implements search.Clock.
func (c ownClock) Sleep(ctx context.Context, by time.Duration) error {
	if c.ending {
		return context.Canceled
	}
	return c.d.clock.Sleep(ctx, by)
}
