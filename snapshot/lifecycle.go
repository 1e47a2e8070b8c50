package snapshot

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"

	"lethe"
	"lethe/internal/floatbytes"
	"lethe/snapshot/closed"
)

// transition changes a timestep: its files and its entries in staging.
type transition struct {
	store *Store
	*changes
}

// Closing is the graph of a timestep while it closes: it is read from staging and written to its own file, which
// is invisible until staging lists it. Meanwhile the owner may use the Store.
type Closing struct {
	store    *Store
	timestep lethe.Timestep
	revision lethe.Revision
	// expected is the approximate number of transactions.
	expected int

	once sync.Once
	// Set by Make: the graph, the changes that move its entries out of staging, and the error.
	graph  *lethe.Snapshot
	taken  *changes
	failed error
}

// BeginClosing starts to close a timestep that Ready lists: its graph moves to its own file, which Load reads.
// Closing.Finish and Closing.Sync complete that. Payments that are not in the graph are rejected (see Letters). Once
// it is closed, only Erase and ReopenTimestep change the graph. Closing.Make takes longest; it comes between both and
// may run in another goroutine.
//
// Until Finish, the owner may use the Store but must not take transactions or payments of the timestep: whether the
// graph has them would be undefined. Erase finishes the Closing first. For a timestep that is already closed the
// Closing is nil, so a caller that crashed can continue. Several timesteps may be closing, in ascending order.
// Errors, which do not name the timestep: ErrUnknownTimestep, ErrNotReady.
func (s *Store) BeginClosing(t lethe.Timestep) (*Closing, error) {
	toClose, _ := s.Ready()
	if n := len(s.closing); n > 0 {
		begun := s.closing[n-1].timestep
		toClose = slices.DeleteFunc(toClose, func(t lethe.Timestep) bool { return t <= begun })
	}
	i, closed, err := s.staging.due(t, lethe.Closed, toClose)
	if err != nil || closed {
		return nil, err
	}
	c := &Closing{store: s, timestep: t, revision: s.staging.gone[t] + 1, expected: i.Nodes, taken: s.staging.change()}
	s.closing = append(s.closing, c)
	return c, nil
}

// Make builds the graph and its file once; further calls wait for the first. It returns the graph, without labels,
// which must not be changed, or nil on failure; Finish returns the error.
func (c *Closing) Make(ctx context.Context) *lethe.Snapshot {
	c.once.Do(func() {
		if c.graph, _, c.failed = c.store.staging.assemble(ctx, c.taken, c.timestep, nil, c.expected); c.failed != nil {
			return
		}
		c.graph.Revision = c.revision
		c.failed = c.store.closed.Write(c.graph)
	})
	if c.failed != nil {
		return nil
	}
	return c.graph
}

// Finish makes staging list the timestep as closed, once, after every Closing that was begun earlier. It calls
// Make, or waits for it, if necessary. Errors are those of BeginClosing and of making the graph.
func (c *Closing) Finish(ctx context.Context) error {
	for s := c.store; slices.Contains(s.closing, c); {
		if err := s.closing[0].finish(ctx); err != nil {
			return err
		}
	}
	return nil
}

// closings are the timesteps that are closing, ascending.
type closings []*Closing

// finish finishes all of them, durably.
func (l closings) finish(ctx context.Context) error {
	if len(l) == 0 {
		return nil
	}
	last := l[len(l)-1]
	return errors.Join(last.Finish(ctx), last.Sync())
}

// finish finishes the first Closing.
func (c *Closing) finish(ctx context.Context) error {
	s := c.store
	c.Make(ctx)
	s.closing = s.closing[1:]
	if c.failed != nil {
		return c.failed // the next Open or Erase removes a file that is not listed
	}
	next := transition{s, s.staging.change()}
	maps.Copy(next.writes, c.taken.writes)
	next.prefixes, next.files, next.unsynced = c.taken.prefixes, c.taken.files, true
	next.list(s.staging.Info(c.timestep), c.graph)
	if err := next.conclude(c.timestep, c.graph); err != nil {
		return err
	}
	s.recent = &Content{Info: s.staging.Info(c.timestep), Snapshot: c.graph}
	if len(next.letters) > 0 {
		return c.Sync() // a letter about a graph may only be published once the graph is durable
	}
	return nil
}

// Sync makes the close durable. Nothing about it may be published before. Any goroutine may call it.
func (c *Closing) Sync() error { return c.store.staging.rows.Sync() }

// Clean unlinks the timestep's files in staging's folder, after Sync. Any goroutine may call it. Files that it cannot
// unlink are left to the next Clean or to an erasure.
func (c *Closing) Clean() { _ = c.store.staging.rows.Clean() }

// Revision returns the revision that the timestep gets.
func (c *Closing) Revision() lethe.Revision { return c.revision }

// Bytes returns the approximate memory of the graph.
func (c *Closing) Bytes() int { return c.expected * c.store.staging.featureCount * floatbytes.Size }

// abandon leaves them as a crash would.
func (l closings) abandon() {
	for _, c := range l {
		c.once.Do(func() { c.failed = errors.New("the store was closed") })
	}
}

// list records that a timestep has a graph of its own.
func (t transition) list(i Info, g *lethe.Snapshot) {
	i.State, i.Revision, i.Reopened = lethe.Closed, g.Revision, g.Revision
	i.Nodes, i.Payments, i.Waiting, i.Files.Graph = len(g.Nodes), len(g.Payments), 0, g.Revision
	t.infos[i.Timestep] = i
	t.drop(timestepKey(kindGone, i.Timestep))
}

// conclude judges the payments and labels that a changed timestep leaves out, and stores the
// changes.
func (t transition) conclude(at lethe.Timestep, arrived *lethe.Snapshot) error {
	if err := t.judgeAll(at, arrived, false); err != nil {
		return err
	}
	if err := t.apply(); err != nil {
		return err
	}
	delete(t.staging.gone, at)
	return nil
}

// Assign chooses a shard for every node of a labelled snapshot. It should be a pure function:
// after a crash it may be called again.
type Assign func(*lethe.Snapshot) ([]lethe.ShardID, error)

// run returns the shards of a snapshot.
func (a Assign) run(g *lethe.Snapshot) ([]lethe.ShardID, error) {
	shards, err := a(g)
	if err != nil {
		return nil, fmt.Errorf("assign: %w", err)
	}
	if len(shards) != len(g.Nodes) {
		return nil, fmt.Errorf("assign gave %d shards for %d nodes", len(shards), len(g.Nodes))
	}
	return shards, nil
}

// SettleTimestep gives the nodes of a timestep that Ready lists for settling their labels
// and, from assign, their shards. Labels that match none of them are rejected (see Letters). It
// does nothing for a timestep that is already settled. Errors, which do not name the timestep:
// ErrUnknownTimestep, ErrNotReady, and those of assign.
func (s *Store) SettleTimestep(ctx context.Context, t lethe.Timestep, assign Assign) error {
	_, toSettle := s.Ready()
	i, settled, err := s.staging.due(t, lethe.Settled, toSettle)
	if err != nil || settled {
		return err
	}
	content, err := s.closed.read(i)
	if err != nil {
		return err
	}
	next := transition{s, s.staging.change()}
	if err := next.settle(ctx, i, content.Snapshot, assign); err != nil {
		return err
	}
	return next.conclude(t, nil)
}

// Labelled reads a closed timestep with its pending labels and the timestep that will precede it: the argument of
// assign if SettleTimestep were called now. It changes nothing.
func (s *Store) Labelled(ctx context.Context, t lethe.Timestep) (*Content, error) {
	c, err := s.Load(t)
	if err != nil {
		return nil, err
	}
	scratch := s.staging.change()
	if _, err := s.staging.label(ctx, scratch, c.Snapshot); err != nil {
		return nil, fmt.Errorf("labels of timestep %d: %w", t, err)
	}
	c.Info.Previous = scratch.settledBefore(t)
	return c, nil
}

// settle gives a closed graph its labels and shards.
func (t transition) settle(ctx context.Context, i Info, g *lethe.Snapshot, assign Assign) error {
	if _, err := t.staging.label(ctx, t.changes, g); err != nil {
		return err
	}
	shards, err := assign.run(g)
	if err != nil {
		return err
	}
	if i, err = t.assign(i, g, shards); err != nil {
		return err
	}
	i.State, i.Previous = lethe.Settled, t.settledBefore(i.Timestep)
	t.infos[i.Timestep] = i
	return nil
}

// assign stores the labels and shards of a graph under its revision.
func (t transition) assign(i Info, g *lethe.Snapshot, shards []lethe.ShardID) (Info, error) {
	i.Files.Assigned = g.Revision
	return i.withLabels(g), t.store.closed.Assign(g, shards)
}

// rewrite writes the files of a closed timestep under its next revision. Before it is settled it has no shards.
func (t transition) rewrite(i Info, g *lethe.Snapshot, shards []lethe.ShardID) (Info, error) {
	i.Revision++
	g.Revision, i.Files.Graph = i.Revision, i.Revision
	i.Nodes, i.Payments = len(g.Nodes), len(g.Payments)
	if err := t.store.closed.Write(g); err != nil || i.State != lethe.Settled {
		return i, err
	}
	return t.assign(i, g, shards)
}

// apply stores the changes, then unlinks the files that they replace.
func (t transition) apply() error {
	before := make(map[lethe.Timestep]closed.Files)
	for at := range t.infos {
		before[at] = t.staging.files(at)
	}
	if err := t.changes.apply(); err != nil {
		return err
	}
	for at, files := range before {
		if err := t.store.closed.Remove(at, files, t.staging.files(at)); err != nil {
			return err
		}
	}
	return nil
}

// settledBefore returns the newest settled timestep before t, or NoTimestep.
func (c *changes) settledBefore(t lethe.Timestep) lethe.Timestep {
	before := lethe.NoTimestep
	for _, i := range c.timesteps() {
		if i.Timestep < t && i.State == lethe.Settled {
			before = i.Timestep
		}
	}
	return before
}
