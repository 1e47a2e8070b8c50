package snapshot

import (
	"context"
	"fmt"

	"lethe"
	"lethe/snapshot/stored"
)

// Named returns those of the wanted transactions and payments, as selected by is, of which the store holds
// anything: staged rows, pending payments and labels, and the graphs of all closed timesteps, each of which it
// reads. The order is unspecified.
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

// named collects the targets that is selects.
type named struct {
	is    func(lethe.Target) bool
	found []lethe.Target
}

// about adds the targets for one transaction, or for both ends of a payment and the payment
// itself.
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

// staged adds the targets of an entry of staging.
func (n *named) staged(kind byte, value []byte) error {
	switch kind {
	case kindRow:
		r, err := stored.DecodeRow(value)
		n.about(r.ID)
		return err
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
