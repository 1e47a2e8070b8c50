package snapshot

import (
	"context"
	"errors"
	"fmt"

	"lethe"
	"lethe/internal/swapstore"
)

// Assign chooses a shard for every node of a labelled snapshot. It should be a
// pure function: after a crash it may be called again.
type Assign func(*lethe.Snapshot) ([]lethe.ShardID, error)

// SettleTimestep gives the nodes of a timestep that Ready lists their labels
// and, by assign, their shards, and returns the settled timestep with the
// refusals that await confirmation (see Refused). On a timestep that is settled
// already it returns the same again and does not call assign. Errors:
// ErrUnknownTimestep, ErrNotReady, and those of assign.
func (s *Store) SettleTimestep(ctx context.Context, t lethe.Timestep, assign Assign) (*Content, []Refused, error) {
	s.epoch++
	c, err := s.settleTimestep(ctx, t, assign)
	if err != nil {
		return nil, nil, fmt.Errorf("settle timestep %d: %w", t, err)
	}
	refused, err := s.Refused(t)
	return c, refused, err
}

func (s *Store) settleTimestep(ctx context.Context, t lethe.Timestep, assign Assign) (*Content, error) {
	i := s.info(t)
	if !i.known() {
		return nil, ErrUnknownTimestep
	}
	if i.State == lethe.Settled {
		return s.Load(t)
	}
	if _, toSettle := s.Ready(); len(toSettle) == 0 || toSettle[0] != t {
		return nil, fmt.Errorf("%w to be settled", ErrNotReady)
	}
	g, err := s.readGraph(t)
	if err != nil {
		return nil, err
	}
	refusals, err := s.applyLabels(ctx, g)
	if err != nil {
		return nil, err
	}
	shards, err := assign(g)
	if err != nil {
		return nil, fmt.Errorf("assign: %w", err)
	}
	if len(shards) != len(g.Nodes) {
		return nil, fmt.Errorf("assign gave %d shards for %d nodes", len(shards), len(g.Nodes))
	}
	labelled, err := s.writeAssigned(g, shards)
	if err != nil {
		return nil, err
	}
	i.State, i.Labels, i.Previous = lethe.Settled, labelled, s.settledBefore(t)
	if err := s.listSettled(i, refusals); err != nil {
		return nil, err
	}
	return &Content{Info: i, Snapshot: g, Assignment: shards}, nil
}

// listSettled makes the settled state of a timestep count.
func (s *Store) listSettled(i Info, refusals []pendingRefusal) error {
	gone := s.judgedInfos(i.Timestep, func(i *Info) { i.Labels = 0 })
	err := s.staging.Apply(func(w swapstore.Writer) error {
		return errors.Join(
			s.deleteThrough(w, kindLabel, i.Timestep),
			s.addRefusals(w, i.Timestep, refusals),
			writeInfos(w, gone),
			w.Set(timestepKey(kindInfo, i.Timestep), i.encode()),
		)
	})
	if err != nil {
		return err
	}
	s.takeInfos(gone)
	s.infos[i.Timestep] = i
	return nil
}

// applyLabels gives the snapshot's nodes their labels and judges every label up
// to its timestep.
func (s *Store) applyLabels(ctx context.Context, g *lethe.Snapshot) ([]pendingRefusal, error) {
	var refusals []pendingRefusal
	err := s.scanThrough(kindLabel, g.Timestep, func(at lethe.Timestep, key, value []byte) error {
		if err := ctx.Err(); err != nil {
			return err
		}
		p, err := decodeLabel(value)
		if err != nil {
			return err
		}
		about, err := pseudonymsAfter(key, 1+timestepBytes, 1)
		if err != nil {
			return err
		}
		if at == g.Timestep {
			if node, found := g.Find(about[0]); found {
				g.Nodes[node].Label = p.label
				return nil
			}
		}
		r, err := s.judgeLabel(at, g.Timestep, about, p)
		refusals = append(refusals, r)
		return err
	})
	return refusals, err
}

// judgeLabel tells why a label of timestep at belongs to no node of the
// settling timestep t.
func (s *Store) judgeLabel(at, t lethe.Timestep, about []lethe.Pseudonym, p pendingLabel) (pendingRefusal, error) {
	refused := Refused{Origin: p.origin}
	entry, known, err := s.lookup(about[0])
	if known && entry.timestep <= t {
		refused.Reason = ReasonCrossTimestep
		refused.Detail = fmt.Sprintf("label of timestep %d, transaction is of %d", at, entry.timestep)
	} else {
		refused.Reason = ReasonUnknownTransaction
		refused.Detail = fmt.Sprintf("label of timestep %d", at)
	}
	return pendingRefusal{about, refused}, err
}

// writeAssigned stores labels and shards beside the rows. Until staging lists
// the timestep as settled, nobody reads them.
func (s *Store) writeAssigned(g *lethe.Snapshot, shards []lethe.ShardID) (labelled int, err error) {
	store, err := s.stores.get(g.Timestep)
	if err != nil {
		return 0, err
	}
	m, err := readMeta(store)
	if err != nil {
		return 0, err
	}
	for _, n := range g.Nodes {
		if n.Label != lethe.Unknown {
			labelled++
		}
	}
	m.labelled = labelled
	return labelled, store.Apply(func(w swapstore.Writer) error {
		for i, n := range g.Nodes {
			if err := w.Set(pseudonymKey(kindAssigned, n.Pseudonym), encodeAssigned(n.Label, shards[i])); err != nil {
				return err
			}
		}
		return w.Set([]byte{kindMeta}, m.encode())
	})
}

// settledBefore returns the last settled timestep before t.
func (s *Store) settledBefore(t lethe.Timestep) lethe.Timestep {
	last := lethe.NoTimestep
	for at, i := range s.infos {
		if at < t && i.State == lethe.Settled {
			last = max(last, at)
		}
	}
	return last
}

// Load reads a closed or settled timestep. Errors: ErrUnknownTimestep, and
// ErrNotReady for an open one.
func (s *Store) Load(t lethe.Timestep) (*Content, error) {
	i := s.info(t)
	switch {
	case !i.known():
		return nil, fmt.Errorf("load timestep %d: %w", t, ErrUnknownTimestep)
	case i.State == lethe.Open:
		return nil, fmt.Errorf("load timestep %d: %w, it is open", t, ErrNotReady)
	}
	g, err := s.readGraph(t)
	c := &Content{Info: i, Snapshot: g}
	if err == nil && i.State == lethe.Settled {
		c.Assignment, err = s.readAssigned(g)
	}
	if err != nil {
		return nil, fmt.Errorf("load timestep %d: %w", t, err)
	}
	return c, nil
}
