package snapshot

import (
	"context"
	"errors"
	"fmt"

	"lethe"
	"lethe/internal/swapstore"
)

// errStop ends a scan early.
var errStop = errors.New("enough")

// CloseTimestep completes the graph of a timestep that Ready lists, moves it to
// a store of its own, and returns it, without labels, with the refusals that
// await confirmation (see Refused). From then on only Erase changes the graph.
// On a timestep that is closed already it returns the same again, so that a
// caller that was killed can go on. Errors: ErrUnknownTimestep, ErrNotReady.
func (s *Store) CloseTimestep(ctx context.Context, t lethe.Timestep) (*lethe.Snapshot, []Refused, error) {
	s.epoch++
	g, err := s.closeTimestep(ctx, t)
	if err != nil {
		return nil, nil, fmt.Errorf("close timestep %d: %w", t, err)
	}
	refused, err := s.Refused(t)
	return g, refused, err
}

func (s *Store) closeTimestep(ctx context.Context, t lethe.Timestep) (*lethe.Snapshot, error) {
	i := s.info(t)
	if !i.known() {
		return nil, ErrUnknownTimestep
	}
	if i.State > lethe.Open {
		return s.readGraph(t)
	}
	if toClose, _ := s.Ready(); len(toClose) == 0 || toClose[0] != t {
		return nil, fmt.Errorf("%w to be closed", ErrNotReady)
	}
	g, refusals, err := s.gather(ctx, t)
	if err != nil {
		return nil, err
	}
	if err := s.writeGraph(g); err != nil {
		// The store is not listed yet. A failed removal is made good by the next
		// Open, Erase or CloseTimestep.
		return nil, errors.Join(err, s.stores.remove(t))
	}
	i.State, i.Revision, i.Payments = lethe.Closed, g.Revision, len(g.Payments)
	if err := s.listClosed(i, refusals); err != nil {
		return nil, err
	}
	return g, nil
}

// listClosed makes the closed state of a timestep count, and removes from
// staging what was judged.
func (s *Store) listClosed(i Info, refusals []pendingRefusal) error {
	judged := s.judgedInfos(i.Timestep, func(i *Info) { i.Payments = 0 })
	err := s.staging.Apply(func(w swapstore.Writer) error {
		return errors.Join(
			s.deleteThrough(w, kindRow, i.Timestep),
			s.deleteThrough(w, kindPayment, i.Timestep),
			s.addRefusals(w, i.Timestep, refusals),
			writeInfos(w, judged),
			w.Set(timestepKey(kindInfo, i.Timestep), i.encode()),
		)
	})
	if err != nil {
		return err
	}
	s.takeInfos(judged)
	s.infos[i.Timestep] = i
	return nil
}

// gather reads the graph of an open timestep and judges every payment up to it.
func (s *Store) gather(ctx context.Context, t lethe.Timestep) (*lethe.Snapshot, []pendingRefusal, error) {
	g := &lethe.Snapshot{Timestep: t, Revision: 1, FeatureCount: s.featureCount}
	positions := make(map[lethe.Pseudonym]uint32)
	err := s.staging.Scan(timestepKey(kindRow, t), func(key, value []byte) error {
		if err := ctx.Err(); err != nil {
			return err
		}
		return addNode(g, positions, key[1+timestepBytes:], value)
	})
	if err != nil {
		return nil, nil, err
	}
	var refusals []pendingRefusal
	err = s.scanThrough(kindPayment, t, func(at lethe.Timestep, key, value []byte) error {
		if err := ctx.Err(); err != nil {
			return err
		}
		ends, err := pseudonymsAfter(key, 1+timestepBytes, 2)
		if err != nil {
			return err
		}
		if at == t {
			source, foundSource := positions[ends[0]]
			target, foundTarget := positions[ends[1]]
			if foundSource && foundTarget {
				g.Payments = append(g.Payments, lethe.Arc{Source: source, Target: target})
				return nil
			}
		}
		p, err := decodePayment(value)
		if err != nil {
			return err
		}
		r, err := s.judgePayment(at, t, ends, p)
		refusals = append(refusals, r)
		return err
	})
	if err != nil {
		return nil, nil, err
	}
	return g, refusals, g.Validate()
}

// judgePayment tells why a payment of timestep at is not in the graph of the
// closing timestep t.
func (s *Store) judgePayment(at, t lethe.Timestep, ends []lethe.Pseudonym, p pendingPayment) (pendingRefusal, error) {
	refused := Refused{Origin: p.origin, Reason: ReasonCrossTimestep}
	for i, end := range ends {
		side := [...]string{"source", "target"}[i]
		entry, known, err := s.lookup(end)
		switch {
		case err != nil:
			return pendingRefusal{}, err
		case !known || entry.timestep > t:
			refused.Reason = ReasonUnknownEndpoint
			refused.Detail = fmt.Sprintf("payment of timestep %d, %s is not known", at, side)
			return pendingRefusal{ends, refused}, nil
		case entry.timestep != at:
			refused.Detail = fmt.Sprintf("payment of timestep %d, %s is of %d", at, side, entry.timestep)
		}
	}
	return pendingRefusal{ends, refused}, nil
}

// scanThrough calls fn for the keys of a kind up to and including timestep t.
func (s *Store) scanThrough(kind byte, t lethe.Timestep, fn func(at lethe.Timestep, key, value []byte) error) error {
	err := s.staging.Scan([]byte{kind}, func(key, value []byte) error {
		at, err := timestepOf(key)
		if err != nil {
			return err
		}
		if at > t {
			return errStop
		}
		return fn(at, key, value)
	})
	if errors.Is(err, errStop) {
		return nil
	}
	return err
}

// deleteThrough deletes the keys of a kind up to and including timestep t.
func (s *Store) deleteThrough(w swapstore.Writer, kind byte, t lethe.Timestep) error {
	return s.scanThrough(kind, t, func(_ lethe.Timestep, key, _ []byte) error { return w.Delete(key) })
}
