package snapshot

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"lethe"
	"lethe/internal/swapstore"
)

// transition changes a timestep: its store, and what staging knows.
type transition struct {
	store *Store
	*changes
}

// CloseTimestep completes the graph of a timestep that Ready lists first, and
// moves it to a store of its own, to be read by Load. The payments that are not
// in it are refused (see Letters). From then on Erase and ReopenTimestep change the
// graph. On a timestep that is closed already it does nothing, so that a caller that
// was killed can go on. Errors, which leave it to the caller to name the
// timestep: ErrUnknownTimestep, ErrNotReady.
func (s *Store) CloseTimestep(ctx context.Context, t lethe.Timestep) error {
	toClose, _ := s.Ready()
	i, closed, err := s.staging.due(t, lethe.Closed, toClose)
	if err != nil || closed {
		return err
	}
	next := transition{s, s.staging.change()}
	g, _, err := s.staging.assemble(ctx, next.changes, t, nil)
	if err != nil {
		return err
	}
	if err := next.begin(ctx, i, g); err != nil {
		return err
	}
	if err := next.conclude(t, g); err != nil {
		return err
	}
	s.recent = &Content{Info: s.staging.info(t), Snapshot: g}
	return nil
}

// begin makes a store of its own for the graph of a timestep that closes.
func (t transition) begin(ctx context.Context, i Info, g *lethe.Snapshot) error {
	g.Revision = t.staging.gone[i.Timestep] + 1
	if err := t.store.closed.create(ctx, g); err != nil {
		// The store is not listed yet. A failed removal is made good by the next
		// Open, Erase or CloseTimestep.
		return errors.Join(err, t.store.closed.remove(i.Timestep))
	}
	i.State, i.Revision, i.Reopened = lethe.Closed, g.Revision, g.Revision
	i.Nodes, i.Payments, i.Waiting = len(g.Nodes), len(g.Payments), 0
	t.infos[i.Timestep] = i
	t.drop(timestepKey(kindGone, i.Timestep))
	return nil
}

// conclude judges what a changed timestep leaves and stores the changes.
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

// Assign chooses a shard for every node of a labelled snapshot. It should be a
// pure function: after a crash it may be called again.
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

// SettleTimestep gives the nodes of a timestep that Ready lists first their
// labels and, by assign, their shards. The labels that belong to none of them
// are refused (see Letters). On a timestep that is settled already it does
// nothing. Errors, which leave it to the caller to name the timestep:
// ErrUnknownTimestep, ErrNotReady, and those of assign.
func (s *Store) SettleTimestep(ctx context.Context, t lethe.Timestep, assign Assign) error {
	_, toSettle := s.Ready()
	i, settled, err := s.staging.due(t, lethe.Settled, toSettle)
	if err != nil || settled {
		return err
	}
	store, err := s.closed.get(t)
	if err != nil {
		return err
	}
	g, err := store.read()
	if err != nil {
		return err
	}
	next := transition{s, s.staging.change()}
	if err := next.settle(ctx, i, g, assign); err != nil {
		return err
	}
	return next.conclude(t, nil)
}

// Labelled reads a closed timestep with the labels that wait for it and the timestep that it will follow: what
// SettleTimestep will give to assign, as far as is known by now. It changes nothing.
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
	store, err := t.store.closed.get(i.Timestep)
	if err != nil {
		return err
	}
	if i.Labels, err = store.writeAssigned(g, shards); err != nil {
		return err
	}
	i.State, i.Previous = lethe.Settled, t.settledBefore(i.Timestep)
	t.infos[i.Timestep] = i
	return nil
}

// Redeal is a timestep whose transactions are given shards afresh.
type Redeal struct {
	Timestep lethe.Timestep
	// Renew gives it a new revision even if everybody stays: what was published of it is
	// not what these shards give.
	Renew bool
}

// Repartition gives the transactions of settled timesteps the shards that assign chooses for
// them as they are now. A store whose shards become others is written anew, without the old
// ones, and has a new revision; one whose shards stay is left alone unless it is to be
// renewed, as are timesteps that are not settled, or gone. After an Erase this makes the
// assignment one that the erased had no part in.
//
// It is idempotent as long as assign is a pure function and nothing is renewed: after an
// error or a crash, call it again with the same timesteps. Errors: those of assign, of the
// context and of the file system.
func (s *Store) Repartition(ctx context.Context, list []Redeal, assign Assign) error {
	for _, r := range list {
		if err := (transition{s, s.staging.change()}).repartition(ctx, r, assign); err != nil {
			return fmt.Errorf("partition timestep %d afresh: %w", r.Timestep, err)
		}
	}
	return nil
}

func (t transition) repartition(ctx context.Context, r Redeal, assign Assign) error {
	at := r.Timestep
	i := t.info(at)
	if i.State != lethe.Settled {
		return nil
	}
	content, err := t.store.Load(at)
	if err != nil {
		return err
	}
	shards, err := assign.run(content.Snapshot)
	if err != nil || !r.Renew && slices.Equal(shards, content.Assignment) {
		return err
	}
	// Without a value: it is not reopened, and whoever asked publishes it.
	err = t.staging.Apply(func(w swapstore.Writer) error { return w.Set(timestepKey(kindRewriting, at), nil) })
	if err != nil {
		return err
	}
	store, err := t.store.closed.get(at)
	if err != nil {
		return err
	}
	content.Snapshot.Revision = i.Revision + 1
	m, err := store.replace(ctx, content.Snapshot, shards)
	if err != nil {
		// A store whose switch is in doubt has to be opened afresh.
		return errors.Join(err, t.store.closed.close(at))
	}
	t.infos[at] = m.applyTo(i)
	t.drop(timestepKey(kindRewriting, at))
	return t.apply()
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

// relink gives the closed timestep after another a new revision, because that before
// it has changed.
func (t transition) relink(after lethe.Timestep) error {
	for _, i := range t.timesteps() {
		if i.Timestep <= after || i.State == lethe.Open {
			continue
		}
		return t.raise(i, 0)
	}
	return nil
}

// raise gives a closed timestep a new revision, behind another one.
func (t transition) raise(i Info, behind lethe.Revision) error {
	if err := t.noteReopening(i.Timestep); err != nil {
		return err
	}
	store, err := t.store.closed.get(i.Timestep)
	if err != nil {
		return err
	}
	m, err := store.raise(behind)
	if err != nil {
		return errors.Join(err, t.store.closed.close(i.Timestep))
	}
	i = m.applyTo(i)
	i.Reopened = i.Revision
	if i.State == lethe.Settled {
		i.Previous = t.settledBefore(i.Timestep)
	}
	t.infos[i.Timestep] = i
	t.drop(timestepKey(kindRewriting, i.Timestep))
	return nil
}

// noteReopening lets Open take over the revision that a timestep's store is about to
// get, if the process ends before it is noted otherwise.
func (t transition) noteReopening(at lethe.Timestep) error {
	return t.staging.Apply(func(w swapstore.Writer) error { return w.Set(timestepKey(kindRewriting, at), []byte{1}) })
}
