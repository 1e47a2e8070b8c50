package graphs

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"sync"
	"time"

	"lethe"
	"lethe/canonical"
	"lethe/ingest"
	"lethe/ingest/bus"
	"lethe/internal/precedence"
	"lethe/partition"
	"lethe/partition/graph"
	"lethe/pipeline/journal"
	"lethe/pipeline/wire"
	"lethe/snapshot"
)

// ahead works out beside the loop what settling a timestep takes longest for: who is in which shard, and the slices
// of all shards. Both follow from the labelled graph: what was worked out is used if the graph is still that one,
// and is worked out in the loop if it has changed since.
type ahead struct {
	running
	partition partition.Config
	cut       cut
	now       func() time.Time
	first     *precedence.Rule

	mu sync.Mutex
	// busy says that something is being worked out; done is what was last, until it is used.
	busy bool
	done *worked
}

// worked is what was worked out of a timestep.
type worked struct {
	timestep, previous lethe.Timestep
	// digest is that of the labelled graph, zero if it could not be worked out.
	digest     lethe.Digest
	assignment graph.Assignment
	report     partition.Report
	took       time.Duration
	slices     [][]byte
}

// labels are where a closed timestep is read with its labels.
type labels interface {
	Labelled(ctx context.Context, t lethe.Timestep) (*snapshot.Content, error)
}

// awaits begins to work out a timestep that is to be settled, unless that was done, and reports whether it goes
// on; the role is woken when it is done.
func (a *ahead) awaits(ctx context.Context, store labels, t lethe.Timestep) (bool, error) {
	if a.is(t) {
		return false, nil
	}
	if a.isBusy() {
		return true, nil
	}
	content, err := store.Labelled(ctx, t)
	if err != nil {
		return false, err
	}
	a.mu.Lock()
	a.busy, a.done = true, nil
	a.mu.Unlock()
	a.run(func() {
		w := a.work(ctx, content)
		a.mu.Lock()
		a.busy, a.done = false, w
		a.mu.Unlock()
	})
	return a.isBusy(), nil
}

func (a *ahead) is(t lethe.Timestep) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.done != nil && a.done.timestep == t
}

func (a *ahead) isBusy() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.busy
}

// work works out a timestep. An error is for the loop to meet again.
func (a *ahead) work(ctx context.Context, content *snapshot.Content) *worked {
	a.first.Give(ctx)
	started := a.now()
	w := &worked{timestep: content.Info.Timestep, previous: content.Info.Previous}
	var err error
	if w.assignment, w.report, err = partitioned(ctx, content.Snapshot, a.partition); err != nil {
		return w
	}
	w.took = a.now().Sub(started)
	a.first.Give(ctx) // predictions may have begun since
	content.Assignment = w.assignment
	all := make([]lethe.ShardID, a.cut.shards)
	for i := range all {
		all[i] = lethe.ShardID(i)
	}
	if w.slices, err = a.cut.encoded(content, all); err == nil {
		w.digest = canonical.DigestSnapshot(content.Snapshot)
	}
	return w
}

// of returns what was worked out of a labelled graph, nil if that is another one.
func (a *ahead) of(s *lethe.Snapshot) *worked {
	if a == nil || !a.is(s.Timestep) {
		return nil
	}
	a.mu.Lock()
	w := a.done
	a.mu.Unlock()
	if w.digest.IsZero() || w.digest != canonical.DigestSnapshot(s) {
		return nil
	}
	return w
}

// encoded returns the slices of all shards of a settled timestep, once, or nil if they were not worked out.
func (a *ahead) encoded(content *snapshot.Content) [][]byte {
	w := a.of(content.Snapshot)
	if w == nil || w.previous != content.Info.Previous || !slices.Equal(w.assignment, content.Assignment) {
		return nil
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.done = nil
	return w.slices
}

// sending are the slices and the manifest of a timestep that has settled, while they are sent beside the loop. They are
// what publisher.send sends, in the same order: marks and leaves are noted by the loop once all is sent.
type sending struct {
	timestep lethe.Timestep
	dispatch
	sent   stage
	failed error
}

// send publishes the slices, then the manifest, once.
func (s *sending) send(ctx context.Context, topics closingTopics) error {
	s.sent.do(func() {
		for _, part := range []struct {
			topic    bus.Topic
			messages []wire.Message
		}{{bus.Slices, s.slices}, {bus.Snapshots, s.manifests}} {
			var partitions int
			if partitions, s.failed = topics.Partitions(ctx, part.topic); s.failed == nil {
				s.failed = wire.Publish(ctx, topics, partitions, part.messages...)
			}
			if s.failed != nil {
				return
			}
		}
	})
	return s.failed
}

// settleTimestep cuts a graph into shards once its labels are in.
func (l *lifecycle) settleTimestep(ctx context.Context, t lethe.Timestep) error {
	started := l.now()
	assign := func(g *lethe.Snapshot) ([]lethe.ShardID, error) { return l.assign(ctx, g) }
	settled := journal.TimestepsChanged{Settled: []lethe.Timestep{t}}
	err := l.publisher.decided.change(ctx, settled, func() error { return l.store.SettleTimestep(ctx, t, assign) })
	if err != nil {
		return err
	}
	l.noteChanged(t, lethe.Settled, started)
	if err := l.sendBeside(ctx, t); err != nil {
		return err
	}
	return l.publishMissing(ctx)
}

// sendBeside begins to send the slices of a timestep that has just settled, if there is something to run that beside
// the loop and its graph is out.
func (l *lifecycle) sendBeside(ctx context.Context, t lethe.Timestep) error {
	if l.closings.beside == nil || l.sending != nil {
		return nil // publishMissing sends them
	}
	content, err := l.store.Load(t)
	if err != nil {
		return err
	}
	if revision, _, err := l.publisher.published(graphMark, t); err != nil || revision < content.Info.Reopened {
		return err
	}
	s := &sending{timestep: t}
	if err := l.publisher.addSlices(&s.dispatch, content, l.publisher.allShards()); err != nil {
		return err
	}
	if err := l.publisher.decided.change(ctx, s.changes, func() error { return nil }); err != nil {
		return err
	}
	l.sending = s
	l.closings.run(func() { _ = s.send(ctx, l.closings.topics) })
	return nil
}

// endSending notes that slices are sent, if they are. If that is urgent, it is waited for.
func (l *lifecycle) endSending(ctx context.Context, urgent bool) error {
	s := l.sending
	if s == nil || !urgent && !s.sent.done.Load() {
		return nil
	}
	if err := s.send(ctx, l.closings.topics); err != nil {
		return fmt.Errorf("publish the slices of timestep %d: %w", s.timestep, err)
	}
	l.sending = nil
	return l.publisher.note(&s.dispatch)
}

// sends reports whether something of a timestep is being sent: it has no mark yet, and is not to be sent again.
func (l *lifecycle) sends(t lethe.Timestep) bool {
	return l.closings.sends(t) || l.sending != nil && l.sending.timestep == t
}

// before finishes what would outdate a batch that is taken.
func (l *lifecycle) before(ctx context.Context, events iter.Seq[ingest.Event]) error {
	if err := l.closings.before(ctx, events); err != nil {
		return err
	}
	return l.publisher.decided.settle(ctx)
}

// unsent are the timesteps of which something is being sent.
func (l *lifecycle) unsent() (out []lethe.Timestep) {
	for _, c := range l.closings.now {
		if c.message != nil {
			out = append(out, c.timestep)
		}
	}
	if l.sending != nil {
		out = append(out, l.sending.timestep)
	}
	return out
}

// busy reports whether a timestep closes, or something of one is sent.
func (l *lifecycle) busy() bool { return len(l.closings.now) > 0 || l.sending != nil }

// end ends what closes and what is sent.
func (l *lifecycle) end(ctx context.Context) error {
	if err := l.endSending(ctx, true); err != nil {
		return err
	}
	return l.closings.end(ctx)
}
