package settle

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

// closings close timesteps. What takes long is done beside the loop: the graph is
// made, stored and encoded, then the loop has the store list it, and then it is sent. The loop goes on meanwhile, with
// all but what concerns the timestep: transactions and payments of it, and erasures, finish it first.
type closings struct {
	store     *snapshot.Store
	publisher *publish.Publisher
	topics    Topics
	running   *beside.Running
	told      *told
	// now are those that close now, ascending.
	now []*closing
}

const (
	// backlog is how many timesteps may wait to be closed while records are taken: what waits fills staging's memory,
	// and is written to a table once more when that is full.
	backlog = 8
	// mostClosing and mostClosingBytes bound those that close at a time: each waits for the disk, and is in memory.
	mostClosing      = 8
	mostClosingBytes = 64 << 20
)

// goOn takes those that close as far as they are, in their order, and reports whether one went on. The first one is
// waited for if that is urgent.
func (l *closings) goOn(ctx context.Context, urgent bool) (changed bool, err error) {
	for _, c := range l.now {
		if c.message != nil {
			continue
		}
		if !urgent && !c.made.Done() {
			break
		}
		if err := l.finish(ctx, c); err != nil {
			return changed, err
		}
		changed, urgent = true, urgent && c != l.now[0]
	}
	for len(l.now) > 0 && l.now[0].message != nil && (urgent || l.now[0].sent.Done()) {
		c := l.now[0]
		if err := c.send(ctx, l.topics); err != nil {
			return changed, fmt.Errorf("publish the graph of timestep %d: %w", c.timestep, err)
		}
		if err := l.publisher.NoteGraph(c.timestep, c.message.Revision, c.digest); err != nil {
			return changed, err
		}
		l.told.published[c.timestep] = published{lethe.Closed, c.message.Revision}
		l.now, changed, urgent = l.now[1:], true, false
	}
	return changed, nil
}

// begin begins to close timesteps.
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
		started := l.told.now()
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

// waits reports whether nothing can be done of timesteps that may be closed before the role is woken.
func (l *closings) waits(toClose []lethe.Timestep) bool {
	n := len(l.now)
	return n > 0 && len(toClose) > 0 && len(toClose) <= backlog &&
		(n == mostClosing || toClose[len(toClose)-1] <= l.now[n-1].timestep)
}

// finish has the store list a timestep as closed, and begins to send it.
func (l *closings) finish(ctx context.Context, c *closing) error {
	c.make(ctx)
	var closed journal.TimestepsChanged
	if !c.digest.IsZero() { // else it could not be made, as the store says
		closed.Closed = []lethe.Timestep{c.timestep}
		closed.Graphs = []journal.Artefact{{Timestep: c.timestep, Revision: c.Revision(), Digest: c.digest}}
	}
	if err := l.publisher.Decisions.Change(ctx, closed, func() error { return c.Finish(ctx) }); err != nil {
		l.now = nil
		return fmt.Errorf("close timestep %d: %w", c.timestep, err)
	}
	l.told.changed(c.timestep, lethe.Closed, c.started)
	message := l.publisher.GraphMessage(c.timestep, c.Revision(), c.payload, c.digest)
	c.message = &message
	l.running.Run(func() {
		_ = c.send(ctx, l.topics)
		c.Clean()
	})
	return nil
}

// atOnce closes a timestep in the loop.
func (l *closings) atOnce(ctx context.Context, t lethe.Timestep) error {
	started := l.told.now()
	c, err := l.store.BeginClosing(t)
	if err != nil || c == nil {
		return err
	}
	if err := c.Finish(ctx); err != nil {
		return err
	}
	l.told.changed(t, lethe.Closed, started)
	if err := c.Sync(); err != nil {
		return err
	}
	c.Clean()
	return nil
}

// before has the store list timesteps as closed up to the last one of which transactions or payments have come: they
// are late.
func (l *closings) before(ctx context.Context, events iter.Seq[ingest.Event]) error {
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

// sends reports whether the graph of a timestep that has closed is being sent: it has no mark yet, and is not to be
// sent again.
func (l *closings) sends(t lethe.Timestep) bool {
	for _, c := range l.now {
		if c.timestep == t {
			return c.message != nil
		}
	}
	return false
}
