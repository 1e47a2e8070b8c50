package snapshot

import (
	"context"
	"fmt"

	"lethe"
	"lethe/snapshot/index"
	"lethe/snapshot/stored"
)

// Named returns those of the wanted transactions and payments, as selected by is, of which the store holds
// anything: staged rows, pending payments and labels, and the graphs of all closed timesteps, each of which it
// reads. The order is unspecified.
func (s *Store) Named(ctx context.Context, is func(lethe.Target) bool) ([]lethe.Target, error) {
	n := named{is: is}
	err := s.staging.scanAll(n.staged)
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
		content, err := s.closed.read(info)
		if err != nil {
			return nil, fmt.Errorf("names of timestep %d: %w", info.Timestep, err)
		}
		nodes := content.Snapshot.Nodes
		for _, node := range nodes {
			n.about(node.ID)
		}
		for _, p := range content.Snapshot.Payments {
			n.about(nodes[p.Source].ID, nodes[p.Target].ID)
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

// HasContents reports, for each content hash, whether a transaction has these features or had them before a
// correction; replaced features may still be in the files of staging. Contents that memory cannot exclude are
// looked up in one scan of the index.
func (m Marks) HasContents(list []index.Content) ([]bool, error) {
	s, out := m.staging, make([]bool, len(list))
	var asked []index.Content
	for i, content := range list {
		_, found, err := s.Get(index.ReplacedKey(content))
		if err != nil {
			return nil, fmt.Errorf("find the transaction with a content: %w", err)
		}
		if out[i] = found; !found && s.index.MayHave(content) {
			asked = append(asked, content)
		}
	}
	has, err := s.index.Stay(asked, stored.Erasure{})
	if err != nil {
		return nil, fmt.Errorf("find the transactions with %d contents: %w", len(asked), err)
	}
	for i, content := range list {
		out[i] = out[i] || has[content]
	}
	return out, nil
}

// markShared sets Shared on each located target whose features also belong to a transaction that
// is not a target.
func (s *staging) markShared(located []Located) error {
	gone, own := (stored.Erasure{Removal: RemovalOf(located)}), make(map[int]index.Content)
	var asked []index.Content
	for i, l := range located {
		if !l.Known || l.Kind == lethe.PaymentTarget {
			continue
		}
		entry, known, err := index.Lookup(s.Get, l.Pseudonym)
		if err != nil {
			return err
		}
		if known {
			own[i], asked = entry.Content, append(asked, entry.Content)
		}
	}
	if len(asked) == 0 {
		return nil
	}
	for i, content := range own {
		s.index.Had(content, located[i].Pseudonym)
	}
	stays, err := s.index.Stay(asked, gone)
	for i, content := range own {
		located[i].Shared = located[i].Shared || stays[content]
	}
	return err
}
