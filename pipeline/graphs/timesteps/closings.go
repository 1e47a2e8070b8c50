package timesteps

import (
	"context"
	"fmt"
	"iter"

	"lethe"
	"lethe/ingest"
	"lethe/pipeline/graphs/beside"
	"lethe/pipeline/graphs/publish"
	"lethe/pipeline/journal"
	"lethe/snapshot"
)

// closings close timesteps. A graph is built, stored and encoded beside the loop; then the loop makes the store list
// it, and then it is sent. Transactions and payments of the timestep, and erasures, complete it first.
type closings struct {
	store     *snapshot.Store
	publisher *publish.Publisher
	topics    Topics
	running   *beside.Running
	observer  *observer
	// now are the closings in progress, ascending.
	now []*closing
}

const (
	// backlog is how many timesteps may wait to be closed while records are consumed: their rows fill staging's memory,
	// which is written to disk when it is full.
	backlog = 8
	// mostClosing and mostClosingBytes bound the closings in progress: each is in memory and waits for the disk.
	mostClosing      = 8
	mostClosingBytes = 64 << 20
)

// advance finishes closings that are made, notes those that are sent, and reports whether there was one. If urgent, it
// waits for the first closing to be finished or, if it is, to be sent.
func (l *closings) advance(ctx context.Context, urgent bool) (changed bool, err error) {
	finished, err := l.finishMade(ctx, urgent)
	if err != nil {
		return finished, err
	}
	noted, err := l.noteSent(ctx, urgent && !finished)
	return finished || noted, err
}

// finishMade finishes closings that are made, in their order.
func (l *closings) finishMade(ctx context.Context, waitForFirst bool) (changed bool, err error) {
	for i, c := range l.now {
		if c.message != nil {
			continue
		}
		if !c.made.Done() && (i > 0 || !waitForFirst) {
			break
		}
		if err := l.finish(ctx, c); err != nil {
			return changed, err
		}
		changed = true
	}
	return changed, nil
}

// noteSent stores the marks of graphs that are sent, in their order.
func (l *closings) noteSent(ctx context.Context, waitForFirst bool) (changed bool, err error) {
	for len(l.now) > 0 && l.now[0].message != nil && (waitForFirst || l.now[0].sent.Done()) {
		c := l.now[0]
		if err := c.send(ctx, l.topics); err != nil {
			return changed, fmt.Errorf("publish the graph of timestep %d: %w", c.timestep, err)
		}
		if err := l.publisher.NoteGraph(c.timestep, c.message.Revision, c.digest); err != nil {
			return changed, err
		}
		l.observer.published[c.timestep] = published{lethe.Closed, c.message.Revision}
		l.now, changed, waitForFirst = l.now[1:], true, false
	}
	return changed, nil
}

// begin starts closings.
func (l *closings) begin(ctx context.Context, toClose []lethe.Timestep) (begun bool, err error) {
	size := 0
	for _, c := range l.now {
		size += c.Bytes()
	}
	for _, t := range toClose {
		if len(l.now) > 0 && t <= l.now[len(l.now)-1].timestep {
			continue
		}
		if len(l.now) == mostClosing || len(l.now) > 0 && size >= mostClosingBytes {
			break
		}
		started := l.observer.now()
		made, err := l.store.BeginClosing(t)
		if err != nil || made == nil {
			return begun, err
		}
		c := &closing{Closing: made, timestep: t, started: started}
		if n := len(l.now); n > 0 {
			c.before = l.now[n-1]
		}
		l.now, begun, size = append(l.now, c), true, size+c.Bytes()
		l.running.Run(func() { c.make(ctx) })
	}
	return begun, nil
}

// waits reports whether no timestep of a list can be closed before the role is woken. With more than backlog of them
// the loop finishes the first itself.
func (l *closings) waits(toClose []lethe.Timestep) bool {
	n := len(l.now)
	return n > 0 && len(toClose) > 0 && len(toClose) <= backlog &&
		(n == mostClosing || toClose[len(toClose)-1] <= l.now[n-1].timestep)
}

// finish makes the store list a timestep as closed, and starts sending it.
func (l *closings) finish(ctx context.Context, c *closing) error {
	c.make(ctx)
	var closed journal.TimestepsChanged
	if !c.digest.IsZero() { // else Finish returns the error
		closed.Closed = []lethe.Timestep{c.timestep}
		closed.Graphs = []journal.Artefact{{Timestep: c.timestep, Revision: c.Revision(), Digest: c.digest}}
	}
	if err := l.publisher.Decisions.Change(ctx, closed, func() error { return c.Finish(ctx) }); err != nil {
		l.now = nil
		return fmt.Errorf("close timestep %d: %w", c.timestep, err)
	}
	l.observer.changed(c.timestep, lethe.Closed, c.started)
	message := l.publisher.GraphMessage(c.timestep, c.Revision(), c.payload, c.digest)
	c.message = &message
	l.running.Run(func() {
		_ = c.send(ctx, l.topics)
		c.Clean()
	})
	return nil
}

// closeNow closes a timestep in the loop and publishes nothing.
func (l *closings) closeNow(ctx context.Context, t lethe.Timestep) error {
	started := l.observer.now()
	c, err := l.store.BeginClosing(t)
	if err != nil || c == nil {
		return err
	}
	if err := c.Finish(ctx); err != nil {
		return err
	}
	l.observer.changed(t, lethe.Closed, started)
	if err := c.Sync(); err != nil {
		return err
	}
	c.Clean()
	return nil
}

// finishFor finishes closings of timesteps with new transactions or payments, and of those before: the records are
// late.
func (l *closings) finishFor(ctx context.Context, events iter.Seq[ingest.Event]) error {
	unfinished := 0
	for unfinished < len(l.now) && l.now[unfinished].message != nil {
		unfinished++
	}
	if unfinished == len(l.now) {
		return nil
	}
	newest := lethe.NoTimestep
	for event := range events {
		at := lethe.NoTimestep
		switch e := event.(type) {
		case ingest.Transaction:
			at = e.Timestep
		case ingest.Payment:
			at = e.Timestep
		}
		if at <= l.now[len(l.now)-1].timestep {
			newest = max(newest, at)
		}
	}
	for _, c := range l.now[unfinished:] {
		if c.timestep > newest {
			break
		}
		if err := l.finish(ctx, c); err != nil {
			return err
		}
	}
	return nil
}

// isSending reports whether the graph of a closed timestep is being sent: it has no mark yet, and must not be sent
// again.
func (l *closings) isSending(t lethe.Timestep) bool {
	for _, c := range l.now {
		if c.timestep == t {
			return c.message != nil
		}
	}
	return false
}
