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

// Cutter assigns and cuts timesteps. It prepares the next one beside the loop: the assignment and the slices of all
// shards. Both follow from the labelled graph, and are used if the graph is still the same.
type Cutter struct {
	Cut
	Partition partition.Config
	Running   *beside.Running
	Now       func() time.Time
	// First, if not nil, makes preparation wait for more urgent work.
	First *precedence.Rule

	mu sync.Mutex
	// busy means that a timestep is being prepared; done is the last prepared one until it is used.
	busy bool
	done *prepared
}

// prepared is a prepared timestep.
type prepared struct {
	timestep, previous lethe.Timestep
	// digest is that of the labelled graph; zero after an error.
	digest     lethe.Digest
	assignment graph.Assignment
	report     partition.Report
	took       time.Duration
	slices     [][]byte
}

// Labels reads a closed timestep with its labels.
type Labels interface {
	Labelled(ctx context.Context, t lethe.Timestep) (*snapshot.Content, error)
}

// Prepares starts to prepare a timestep unless it is prepared, and reports whether that continues; the role is woken
// when it is done.
func (c *Cutter) Prepares(ctx context.Context, store Labels, t lethe.Timestep) (bool, error) {
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

func (c *Cutter) set(busy bool, done *prepared) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.busy, c.done = busy, done
}

func (c *Cutter) has(t lethe.Timestep) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.done != nil && c.done.timestep == t
}

// IsBusy reports whether a timestep is being prepared.
func (c *Cutter) IsBusy() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.busy
}

// work prepares a timestep. The loop will get the same error.
func (c *Cutter) work(ctx context.Context, content *snapshot.Content) *prepared {
	c.First.Give(ctx)
	d, err := c.assign(ctx, content.Snapshot)
	if err != nil {
		return &prepared{timestep: content.Info.Timestep}
	}
	c.First.Give(ctx) // predictions may have started since
	d.previous, content.Assignment = content.Info.Previous, d.assignment
	if d.slices, err = c.Cut.Encoded(content, c.All()); err == nil {
		d.digest = canonical.DigestSnapshot(content.Snapshot)
	}
	return d
}

// assign assigns the transactions of a snapshot to shards.
func (c *Cutter) assign(ctx context.Context, s *lethe.Snapshot) (*prepared, error) {
	started := c.Now()
	assignment, report, err := Partitioned(ctx, s, c.Partition)
	if err != nil {
		return nil, err
	}
	return &prepared{timestep: s.Timestep, assignment: assignment, report: report, took: c.Now().Sub(started)}, nil
}

// Partitioned assigns the transactions of a labelled snapshot to shards. It depends only on the snapshot and the
// configuration.
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

// of returns the prepared timestep of a labelled graph, or nil.
func (c *Cutter) of(s *lethe.Snapshot) *prepared {
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

// Assign returns the shards of a labelled snapshot's transactions, and how long that took.
func (c *Cutter) Assign(
	ctx context.Context, s *lethe.Snapshot,
) (_ graph.Assignment, _ partition.Report, took time.Duration, err error) {
	d := c.of(s)
	if d == nil {
		if d, err = c.assign(ctx, s); err != nil {
			return nil, partition.Report{}, 0, err
		}
	}
	return d.assignment, d.report, d.took, nil
}

// Encoded returns the slices of some shards of a settled timestep as bytes. It discards prepared ones.
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
