package cutting

import (
	"context"
	"slices"
	"sync"
	"time"

	"lethe"
	"lethe/canonical"
	"lethe/internal/precedence"
	"lethe/partition"
	"lethe/partition/graph"
	"lethe/pipeline/graphs/beside"
	"lethe/snapshot"
)

// Cutter cuts timesteps. It works out ahead, beside the loop, what settling one takes longest for: who is in which
// shard, and the slices of all shards. Both follow from the labelled graph: what was worked out is used if the graph is
// still that one.
type Cutter struct {
	Cut
	Partition partition.Config
	Running   *beside.Running
	Now       func() time.Time
	// First, if not nil, says what work ahead gives way to.
	First *precedence.Rule

	mu sync.Mutex
	// busy says that something is being worked out; done is what was last, until it is used.
	busy bool
	done *dealt
}

// dealt is what was worked out of a timestep.
type dealt struct {
	timestep, previous lethe.Timestep
	// digest is that of the labelled graph, zero if it could not be worked out.
	digest     lethe.Digest
	assignment graph.Assignment
	report     partition.Report
	took       time.Duration
	slices     [][]byte
}

// Labels are where a closed timestep is read with its labels.
type Labels interface {
	Labelled(ctx context.Context, t lethe.Timestep) (*snapshot.Content, error)
}

// Awaits begins to work out a timestep that is to be settled, unless that was done, and reports whether it goes
// on; the role is woken when it is done.
func (c *Cutter) Awaits(ctx context.Context, store Labels, t lethe.Timestep) (bool, error) {
	if c.has(t) {
		return false, nil
	}
	if c.IsBusy() {
		return true, nil
	}
	content, err := store.Labelled(ctx, t)
	if err != nil {
		return false, err
	}
	c.set(true, nil)
	c.Running.Run(func() { c.set(false, c.work(ctx, content)) })
	return c.IsBusy(), nil
}

func (c *Cutter) set(busy bool, done *dealt) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.busy, c.done = busy, done
}

func (c *Cutter) has(t lethe.Timestep) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.done != nil && c.done.timestep == t
}

// IsBusy reports whether something is worked out ahead.
func (c *Cutter) IsBusy() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.busy
}

// work works out a timestep. An error is for the loop to meet again.
func (c *Cutter) work(ctx context.Context, content *snapshot.Content) *dealt {
	c.First.Give(ctx)
	d, err := c.deal(ctx, content.Snapshot)
	if err != nil {
		return &dealt{timestep: content.Info.Timestep}
	}
	c.First.Give(ctx) // predictions may have begun since
	d.previous, content.Assignment = content.Info.Previous, d.assignment
	if d.slices, err = c.Cut.Encoded(content, c.All()); err == nil {
		d.digest = canonical.DigestSnapshot(content.Snapshot)
	}
	return d
}

// deal deals the transactions of a snapshot to shards.
func (c *Cutter) deal(ctx context.Context, s *lethe.Snapshot) (*dealt, error) {
	started := c.Now()
	assignment, report, err := Partitioned(ctx, s, c.Partition)
	if err != nil {
		return nil, err
	}
	return &dealt{timestep: s.Timestep, assignment: assignment, report: report, took: c.Now().Sub(started)}, nil
}

// Partitioned deals the transactions of a labelled snapshot to shards. It depends on the
// snapshot and the configuration alone, on no other timestep.
func Partitioned(
	ctx context.Context, s *lethe.Snapshot, c partition.Config,
) (graph.Assignment, partition.Report, error) {
	g, err := graph.FromSnapshot(s)
	if err != nil {
		return nil, partition.Report{}, err
	}
	c.Timestep, c.Nodes = s.Timestep, make([]lethe.Pseudonym, len(s.Nodes))
	for i, n := range s.Nodes {
		c.Nodes[i] = n.Pseudonym
	}
	return partition.Run(ctx, g, c)
}

// of returns what was worked out of a labelled graph, nil if that is another one.
func (c *Cutter) of(s *lethe.Snapshot) *dealt {
	if !c.has(s.Timestep) {
		return nil
	}
	c.mu.Lock()
	d := c.done
	c.mu.Unlock()
	if d.digest.IsZero() || d.digest != canonical.DigestSnapshot(s) {
		return nil
	}
	return d
}

// Deal returns the shards of a labelled snapshot's transactions, and how long that took, ahead or now.
func (c *Cutter) Deal(
	ctx context.Context, s *lethe.Snapshot,
) (_ graph.Assignment, _ partition.Report, took time.Duration, err error) {
	d := c.of(s)
	if d == nil {
		if d, err = c.deal(ctx, s); err != nil {
			return nil, partition.Report{}, 0, err
		}
	}
	return d.assignment, d.report, d.took, nil
}

// Encoded returns the slices of some shards of a settled timestep as bytes: those worked out ahead, once.
func (c *Cutter) Encoded(content *snapshot.Content, shards []lethe.ShardID) ([][]byte, error) {
	if len(shards) == c.Shards {
		d := c.of(content.Snapshot)
		if d != nil && d.previous == content.Info.Previous && slices.Equal(d.assignment, content.Assignment) {
			c.set(c.IsBusy(), nil)
			return d.slices, nil
		}
	}
	return c.Cut.Encoded(content, shards)
}
