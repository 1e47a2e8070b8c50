package snapshot

import (
	"context"
	"errors"
	"fmt"

	"lethe"
)

// CloseTimestep completes the graph of a timestep that Ready lists first, and
// moves it to a store of its own, to be read by Load. The payments that are not
// in it are refused (see Refusals). From then on only Erase changes the graph.
// On a timestep that is closed already it does nothing, so that a caller that
// was killed can go on. Errors, which leave it to the caller to name the
// timestep: ErrUnknownTimestep, ErrNotReady.
func (s *Store) CloseTimestep(ctx context.Context, t lethe.Timestep) error {
	toClose, _ := s.Ready()
	i, closed, err := s.due(t, lethe.Closed, toClose)
	if err != nil || closed {
		return err
	}
	g, refusals, err := s.staging.assemble(ctx, t)
	if err != nil {
		return err
	}
	if err := s.closed.create(g); err != nil {
		// The store is not listed yet. A failed removal is made good by the next
		// Open, Erase or CloseTimestep.
		return errors.Join(err, s.closed.remove(t))
	}
	i.State, i.Revision, i.Payments = lethe.Closed, g.Revision, len(g.Payments)
	return s.staging.advance(i, refusals, func(i *Info) { i.Payments = 0 }, kindRow, kindPayment)
}

// Assign chooses a shard for every node of a labelled snapshot. It should be a
// pure function: after a crash it may be called again.
type Assign func(*lethe.Snapshot) ([]lethe.ShardID, error)

// SettleTimestep gives the nodes of a timestep that Ready lists first their
// labels and, by assign, their shards. The labels that belong to none of them
// are refused (see Refusals). On a timestep that is settled already it does
// nothing. Errors, which leave it to the caller to name the timestep:
// ErrUnknownTimestep, ErrNotReady, and those of assign.
func (s *Store) SettleTimestep(ctx context.Context, t lethe.Timestep, assign Assign) error {
	_, toSettle := s.Ready()
	i, settled, err := s.due(t, lethe.Settled, toSettle)
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
	refusals, err := s.staging.label(ctx, g)
	if err != nil {
		return err
	}
	shards, err := assign(g)
	if err != nil {
		return fmt.Errorf("assign: %w", err)
	}
	if len(shards) != len(g.Nodes) {
		return fmt.Errorf("assign gave %d shards for %d nodes", len(shards), len(g.Nodes))
	}
	if i.Labels, err = store.writeAssigned(g, shards); err != nil {
		return err
	}
	i.State = lethe.Settled
	for _, before := range s.staging.timesteps() {
		if before.Timestep < t && before.State == lethe.Settled {
			i.Previous = before.Timestep
		}
	}
	return s.staging.advance(i, refusals, func(i *Info) { i.Labels = 0 }, kindLabel)
}
