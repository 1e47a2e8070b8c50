package graphs

import (
	"context"
	"fmt"
	"iter"
	"sync"
	"sync/atomic"
	"time"

	"lethe"
	"lethe/canonical"
	"lethe/ingest"
	"lethe/ingest/bus"
	"lethe/pipeline/journal"
	"lethe/pipeline/wire"
	"lethe/snapshot"
)

// closings close timesteps. What takes long is done beside the loop, if there is something to run it: the graph is
// made, stored and encoded, then the loop has the store list it, and then it is sent. The loop goes on meanwhile, with
// all but what concerns the timestep: transactions and payments of it, and erasures, finish it first.
type closings struct {
	store     *snapshot.Store
	publisher *publisher
	topics    closingTopics
	// now are those that close now, ascending.
	now []*closing
	running
	// told is told of timesteps that have closed, and of graphs that were sent, which is noted.
	told interface {
		noteChanged(t lethe.Timestep, state lethe.State, started time.Time)
		notePublished(t lethe.Timestep, r lethe.Revision)
	}
	clock func() time.Time
}

// closingTopics is where graphs are sent.
type closingTopics interface {
	wire.Publisher
	Partitions(ctx context.Context, t bus.Topic) (int, error)
}

const (
	// backlog is how many timesteps may wait to be closed while records are taken: what waits fills staging's memory,
	// and is written to a table once more when that is full.
	backlog = 8
	// mostClosing and mostClosingBytes bound those that close at a time: each waits for the disk, and is in memory.
	mostClosing      = 8
	mostClosingBytes = 64 << 20
)

// closing is a timestep that closes.
type closing struct {
	*snapshot.Closing
	timestep lethe.Timestep
	started  time.Time
	// before is sent before it is.
	before *closing
	// payload and digest are its graph, once it is made.
	made    stage
	payload []byte
	digest  lethe.Digest
	// message is what is sent of it, once the store lists it as closed.
	message *wire.Message
	sent    stage
	failed  error
}

// stage is work that is done once, by whoever comes first: others wait for it.
type stage struct {
	once sync.Once
	done atomic.Bool
}

func (s *stage) do(work func()) {
	s.once.Do(func() {
		work()
		s.done.Store(true)
	})
}

// make makes the graph, and encodes it if it is to be sent beside the loop. An error is for the loop to meet.
func (l *closings) make(ctx context.Context, c *closing) {
	c.made.do(func() {
		if g := c.Make(ctx); g != nil && l.beside != nil {
			c.payload, c.digest = canonical.SealSnapshot(g)
		}
	})
}

// send publishes the graph, once it is durable that it is one.
func (c *closing) send(ctx context.Context, topics closingTopics) error {
	c.sent.do(func() {
		if c.failed = c.Sync(); c.failed != nil { // while others are sent
			return
		}
		if c.before != nil {
			if c.failed = c.before.send(ctx, topics); c.failed != nil {
				return
			}
		}
		var partitions int
		if partitions, c.failed = topics.Partitions(ctx, bus.Snapshots); c.failed == nil {
			c.failed = wire.Publish(ctx, topics, partitions, *c.message)
		}
		c.before, c.payload, c.message.Payload = nil, nil, nil
	})
	return c.failed
}

// goOn takes those that close as far as they are, in their order, and reports whether one went on. The first one is
// waited for if that is urgent.
func (l *closings) goOn(ctx context.Context, urgent bool) (changed bool, err error) {
	for _, c := range l.now {
		if c.message != nil {
			continue
		}
		if !urgent && !c.made.done.Load() {
			break
		}
		if err := l.finish(ctx, c); err != nil {
			return changed, err
		}
		changed, urgent = true, urgent && c != l.now[0]
	}
	for len(l.now) > 0 && l.now[0].message != nil && (urgent || l.now[0].sent.done.Load()) {
		c := l.now[0]
		if err := c.send(ctx, l.topics); err != nil {
			return changed, fmt.Errorf("publish the graph of timestep %d: %w", c.timestep, err)
		}
		if err := l.publisher.noteGraph(c.timestep, c.message.Revision, c.digest); err != nil {
			return changed, err
		}
		l.told.notePublished(c.timestep, c.message.Revision)
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
		started := l.clock()
		made, err := l.store.BeginClosing(t)
		if err != nil || made == nil {
			return begun, err
		}
		c := &closing{Closing: made, timestep: t, started: started}
		if n := len(l.now); n > 0 {
			c.before = l.now[n-1]
		}
		l.now, begun, size = append(l.now, c), true, size+c.Bytes()
		l.run(func() { l.make(ctx, c) })
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
	l.make(ctx, c)
	var closed journal.TimestepsChanged
	if !c.digest.IsZero() { // else it could not be made, as the store says
		closed.Closed = []lethe.Timestep{c.timestep}
		closed.Graphs = []journal.Artefact{{Timestep: c.timestep, Revision: c.Revision(), Digest: c.digest}}
	}
	if err := l.publisher.decided.change(ctx, closed, func() error { return c.Finish(ctx) }); err != nil {
		l.now = nil
		return fmt.Errorf("close timestep %d: %w", c.timestep, err)
	}
	l.told.noteChanged(c.timestep, lethe.Closed, c.started)
	message := l.publisher.graphMessage(c.timestep, c.Revision(), c.payload, c.digest)
	c.message = &message
	l.run(func() {
		_ = c.send(ctx, l.topics)
		c.Clean()
	})
	return nil
}

// atOnce closes a timestep in the loop, where nothing runs beside it.
func (l *closings) atOnce(ctx context.Context, t lethe.Timestep) error {
	started := l.clock()
	c, err := l.store.BeginClosing(t)
	if err != nil || c == nil {
		return err
	}
	if err := c.Finish(ctx); err != nil {
		return err
	}
	l.told.noteChanged(t, lethe.Closed, started)
	if err := c.Sync(); err != nil {
		return err
	}
	c.Clean()
	return nil
}

// end ends what closes.
func (l *closings) end(ctx context.Context) error {
	for len(l.now) > 0 {
		if _, err := l.goOn(ctx, true); err != nil {
			return err
		}
	}
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

// change closes timesteps and settles others; awaited says that nothing is left to do before what is worked out
// beside the loop is there.
func (l *lifecycle) change(ctx context.Context, toClose, toSettle []lethe.Timestep) (awaited bool, err error) {
	changed, err := l.closeAll(ctx, toClose)
	if err != nil || len(toSettle) == 0 {
		return !changed, err
	}
	settles, err := l.settle(ctx, toSettle)
	return settles && !changed, err
}

// closeAll closes timesteps, or goes on with that; changed says that something happened.
func (l *lifecycle) closeAll(ctx context.Context, toClose []lethe.Timestep) (changed bool, err error) {
	if l.closings.beside == nil {
		for _, t := range toClose {
			if err = l.closings.atOnce(ctx, t); err == nil {
				err = l.publishMissing(ctx)
			}
			if err != nil {
				return false, fmt.Errorf("close timestep %d: %w", t, err)
			}
		}
		return len(toClose) > 0, nil
	}
	changed, err = l.closings.goOn(ctx, len(toClose) > backlog)
	if err != nil {
		return false, err
	}
	begun, err := l.closings.begin(ctx, toClose)
	return changed || begun, err
}
