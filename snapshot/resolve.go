package snapshot

import (
	"context"
	"errors"
	"fmt"

	"lethe"
	"lethe/internal/swapstore"
)

// assemble makes the graph of an open timestep and resolves every payment up to
// it: those that are not in the graph are refused.
func (s *staging) assemble(ctx context.Context, t lethe.Timestep) (*lethe.Snapshot, []storedRefusal, error) {
	g := &lethe.Snapshot{Timestep: t, Revision: 1, FeatureCount: s.featureCount}
	err := s.scanThrough(kindRow, t, func(_ lethe.Timestep, about []lethe.Pseudonym, value []byte) error {
		return errors.Join(ctx.Err(), addNode(g, about[0], value))
	})
	if err != nil {
		return nil, nil, err
	}
	var refusals []storedRefusal
	err = s.scanThrough(kindPayment, t, func(at lethe.Timestep, ends []lethe.Pseudonym, value []byte) error {
		if at == t && addPayment(g, ends) {
			return ctx.Err()
		}
		p, err := decodePayment(value)
		if err != nil {
			return err
		}
		r, err := s.refusePayment(at, t, ends, p)
		refusals = append(refusals, r)
		return errors.Join(ctx.Err(), err)
	})
	if err != nil {
		return nil, nil, err
	}
	return g, refusals, g.Validate()
}

// refusePayment tells why a payment of timestep at is not in the graph of the
// closing timestep t. What has arrived of later timesteps counts as unknown,
// because it depends on how partitions interleave.
func (s *staging) refusePayment(
	at, t lethe.Timestep, ends []lethe.Pseudonym, p pendingPayment,
) (storedRefusal, error) {
	refusal := Refusal{Origin: p.origin, Reason: ReasonCrossTimestep}
	for i, end := range ends {
		side := [...]string{"source", "target"}[i]
		entry, known, err := lookup(s.Get, end)
		switch {
		case err != nil:
			return storedRefusal{}, err
		case !known || entry.timestep > t:
			refusal.Reason = ReasonUnknownEndpoint
			refusal.Detail = fmt.Sprintf("payment of timestep %d, %s is not known", at, side)
			return storedRefusal{ends, refusal}, nil
		case entry.timestep != at:
			refusal.Detail = fmt.Sprintf("payment of timestep %d, %s is of %d", at, side, entry.timestep)
		}
	}
	return storedRefusal{ends, refusal}, nil
}

// label gives the snapshot's nodes their labels and resolves every label up to
// its timestep.
func (s *staging) label(ctx context.Context, g *lethe.Snapshot) ([]storedRefusal, error) {
	var refusals []storedRefusal
	err := s.scanThrough(kindLabel, g.Timestep, func(at lethe.Timestep, about []lethe.Pseudonym, value []byte) error {
		p, err := decodeLabel(value)
		if err != nil {
			return err
		}
		if at == g.Timestep {
			if node, found := g.Find(about[0]); found {
				g.Nodes[node].Label = p.label
				return ctx.Err()
			}
		}
		r, err := s.refuseLabel(at, g.Timestep, about, p)
		refusals = append(refusals, r)
		return errors.Join(ctx.Err(), err)
	})
	return refusals, err
}

// refuseLabel tells why a label of timestep at belongs to no node of the
// settling timestep t.
func (s *staging) refuseLabel(at, t lethe.Timestep, about []lethe.Pseudonym, p pendingLabel) (storedRefusal, error) {
	refusal := Refusal{Origin: p.origin, Reason: ReasonUnknownTransaction}
	refusal.Detail = fmt.Sprintf("label of timestep %d", at)
	entry, known, err := lookup(s.Get, about[0])
	if known && entry.timestep <= t {
		refusal.Reason = ReasonCrossTimestep
		refusal.Detail += fmt.Sprintf(", transaction is of %d", entry.timestep)
	}
	return storedRefusal{about, refusal}, err
}

// advance makes the new state of a timestep count. What is stored of the
// resolved kinds up to it goes; of timesteps below it that never became known,
// resolved takes it from the counts.
func (s *staging) advance(i Info, refusals []storedRefusal, resolved func(*Info), kinds ...byte) error {
	infos := []Info{i}
	for _, other := range s.timesteps() {
		if other.Timestep < i.Timestep && !other.known() {
			resolved(&other)
			infos = append(infos, other)
		}
	}
	return s.applyInfos(infos, func(w swapstore.Writer) error {
		err := s.addRefusals(w, i.Timestep, refusals)
		for _, kind := range kinds {
			err = errors.Join(err, s.scanThrough(kind, i.Timestep,
				func(at lethe.Timestep, about []lethe.Pseudonym, _ []byte) error {
					return w.Delete(timestepKey(kind, at, about...))
				}))
		}
		return err
	})
}
