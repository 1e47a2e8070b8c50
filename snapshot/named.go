package snapshot

import (
	"context"
	"fmt"

	"lethe"
	"lethe/snapshot/stored"
)

// Named returns those transactions and payments of which something is here that are asked for: rows, payments and
// labels that wait, and what graphs hold. It reads the graphs of all closed timesteps. The order is not told.
func (s *Store) Named(ctx context.Context, is func(lethe.Target) bool) ([]lethe.Target, error) {
	n := named{is: is}
	err := scanAll(s.staging, n.staged)
	if err != nil {
		return nil, fmt.Errorf("what staging holds: %w", err)
	}
	for _, info := range s.Timesteps() {
		if info.State == lethe.Open {
			continue
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		store, err := s.closed.Get(info.Timestep)
		if err == nil {
			err = store.EachName(
				func(id lethe.TransactionID) { n.about(id) },
				func(source, target lethe.TransactionID) { n.about(source, target) })
		}
		if err != nil {
			return nil, fmt.Errorf("names of timestep %d: %w", info.Timestep, err)
		}
	}
	return lethe.Distinct(n.found), nil
}

// named collects what is asked for.
type named struct {
	is    func(lethe.Target) bool
	found []lethe.Target
}

// about takes what is about a transaction, or both ends of a payment.
func (n *named) about(ids ...lethe.TransactionID) {
	all := lethe.Transactions(ids...)
	if len(ids) == 2 {
		all = append(all, lethe.PaymentBetween(ids[0], ids[1]))
	}
	for _, t := range all {
		if n.is(t) {
			n.found = append(n.found, t)
		}
	}
}

// staged takes an entry of staging.
func (n *named) staged(kind byte, value []byte) error {
	switch kind {
	case kindRow:
		r, err := stored.DecodeRow(value)
		n.about(r.ID)
		return err
	case kindCandidate:
		c, err := decodeCandidate(value)
		if err != nil {
			return err
		}
		return n.staged(kindRow, c.row)
	case kindPayment:
		p, err := decodePayment(value)
		n.about(p.source, p.target)
		return err
	case kindLabel:
		l, err := decodeLabel(value)
		n.about(l.id)
		return err
	default:
		return nil
	}
}
