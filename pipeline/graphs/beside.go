package graphs

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"lethe"
	"lethe/canonical"
	"lethe/deletions/coordinator"
	"lethe/ingest/bus"
	"lethe/partition"
	"lethe/partition/graph"
	"lethe/snapshot"
)

// ahead works out beside the loop what settling a timestep takes longest for: who is in which shard, and the slices
// of all shards. Both follow from the labelled graph: what was worked out is used if the graph is still that one,
// and is worked out in the loop if it has changed since.
type ahead struct {
	beside    func(work func())
	wake      func()
	partition partition.Config
	cut       cut
	now       func() time.Time

	working sync.WaitGroup
	mu      sync.Mutex
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

// awaits begins to work out a timestep that is to be settled, unless that was done, and reports whether it goes
// on; the role is woken when it is done.
func (a *ahead) awaits(ctx context.Context, store Store, t lethe.Timestep) (bool, error) {
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
	a.working.Add(1)
	a.beside(func() {
		defer a.working.Done()
		w := a.work(ctx, content)
		a.mu.Lock()
		a.busy, a.done = false, w
		a.mu.Unlock()
		a.wake()
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
	started := a.now()
	w := &worked{timestep: content.Info.Timestep, previous: content.Info.Previous}
	var err error
	if w.assignment, w.report, err = partitioned(ctx, content.Snapshot, a.partition); err != nil {
		return w
	}
	w.took = a.now().Sub(started)
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

// commits are batches that were stored and need not be durable yet: the loop goes on with the next while the disk
// works. Of none of them is said that it was consumed.
type commits struct {
	store Store
	// wake has the role step when one is durable.
	wake func()
	// most is how many may be on their way to the disk; of 0 each is waited for.
	most    int
	pending []*commit
}

// commit is a batch that was stored.
type commit struct {
	at snapshot.TopicPartition
	// before is where the partition is resumed if the batch is lost, unless it is resumed at its start.
	before int64
	known  bool
	// failed is set once ended is closed.
	ended  chan struct{}
	failed error
}

// commit stores a batch. An error may be that of an earlier one.
func (c *commits) commit(b *snapshot.Batch, source bus.TopicPartition, next int64) error {
	if c.most == 0 {
		return b.Commit(next)
	}
	for len(c.pending) >= c.most {
		<-c.pending[0].ended
		if err := c.settle(); err != nil {
			return err
		}
	}
	p := &commit{
		at:    snapshot.TopicPartition{Topic: string(source.Topic), Partition: source.Partition},
		ended: make(chan struct{}),
	}
	p.before, p.known = c.store.Offsets()[p.at]
	err := snapshot.CommitAhead(b, next, func(err error) {
		p.failed = err
		close(p.ended)
		c.wake()
	})
	if err == nil {
		c.pending = append(c.pending, p)
	}
	return err
}

// settle forgets those that are durable.
func (c *commits) settle() error {
	for len(c.pending) > 0 {
		select {
		case <-c.pending[0].ended:
			if err := c.pending[0].failed; err != nil {
				return fmt.Errorf("%s partition %d: %w", c.pending[0].at.Topic, c.pending[0].at.Partition, err)
			}
			c.pending = c.pending[1:]
		default:
			return nil
		}
	}
	return nil
}

// durable returns up to where partitions are in durable state.
func (c *commits) durable() map[snapshot.TopicPartition]int64 {
	offsets := c.store.Offsets()
	for _, p := range slices.Backward(c.pending) {
		if offsets[p.at] = p.before; !p.known {
			delete(offsets, p.at)
		}
	}
	return offsets
}

// asyncSearches runs searches at the same time as the steps. Their end wakes the role.
type asyncSearches struct {
	run      func(search func())
	searcher coordinator.Searcher
	verdicts chan coordinator.Verdict
	wake     chan struct{}
	running  sync.WaitGroup
}

var _ Searches = (*asyncSearches)(nil)

func newAsyncSearches(s coordinator.Searcher, run func(search func())) *asyncSearches {
	return &asyncSearches{
		run: run, searcher: s,
		verdicts: make(chan coordinator.Verdict, maxSearches), wake: make(chan struct{}, 1),
	}
}

// maxSearches is how many searches there are at a time: one that locates, one that
// verifies.
const maxSearches = 2

// Begin implements Searches. A verdict is taken before the next search of its kind
// begins.
func (b *asyncSearches) Begin(ctx context.Context, s *coordinator.Search) {
	b.running.Add(1)
	b.run(func() {
		defer b.running.Done()
		b.verdicts <- b.searcher.Run(ctx, s)
		b.signal()
	})
}

// Wake implements Searches.
func (b *asyncSearches) Wake(after time.Duration) { time.AfterFunc(after, b.signal) }

// signal wakes the role, unless that is about to happen.
func (b *asyncSearches) signal() {
	select {
	case b.wake <- struct{}{}:
	default:
	}
}

// Verdict implements Searches.
func (b *asyncSearches) Verdict() (coordinator.Verdict, bool) {
	select {
	case v := <-b.verdicts:
		return v, true
	default:
		return coordinator.Verdict{}, false
	}
}

// Wait implements Searches.
func (b *asyncSearches) Wait() { b.running.Wait() }
