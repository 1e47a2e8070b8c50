package closed

import (
	"bytes"
	"context"

	"lethe"
	"lethe/internal/swapstore"
	"lethe/snapshot/stored"
)

// Erase rewrites the store without the targets, under a new revision if it held any of them, and returns the new
// description.
func (s Graph) Erase(ctx context.Context, gone stored.Erasure) (Description, error) {
	d, err := s.Describe()
	if err != nil {
		return d, err
	}
	lost, changed, err := s.lose(gone)
	if err != nil {
		return d, err
	}
	if d.Nodes -= lost; changed {
		d.Revision++
	}
	d.Payments, d.Labelled = 0, 0
	// Keys ascend: payments, assignments, description, rows. So the description's counts are
	// complete when it is written.
	err = s.Rewrite(ctx, func(src swapstore.Reader, dst swapstore.Writer) error {
		return src.Scan(nil, func(key, value []byte) error {
			drop, err := gone.IsIn(key, 1)
			if err != nil || drop {
				return err
			}
			if value, err = d.keep(gone, key, value); err != nil {
				return err
			}
			dst.Set(key, value)
			return nil
		})
	})
	return d, err
}

// keep counts an entry that stays and returns its new value.
func (d *Description) keep(gone stored.Erasure, key, value []byte) ([]byte, error) {
	switch key[0] {
	case kindEdge:
		d.Payments++
	case kindAssigned:
		label, _, err := decodeAssigned(value)
		if err != nil {
			return nil, err
		}
		if label != lethe.Unknown {
			d.Labelled++
		}
	case kindMeta:
		return d.encode(), nil
	case kindNode:
		return gone.Redacted(lethe.Pseudonym(key[1:]), value)
	}
	return value, nil
}

// lose counts the nodes to erase, and reports whether anything changes.
func (s Graph) lose(gone stored.Erasure) (nodes int, changed bool, err error) {
	for p := range gone.Nodes {
		_, found, err := s.Row(p)
		if err != nil {
			return nodes, changed, err
		}
		if found {
			nodes++
		}
	}
	changed = nodes > 0
	for p := range gone.Payments {
		found, err := s.HasPayment(p.Source, p.Target)
		if err != nil {
			return nodes, changed, err
		}
		changed = changed || found
	}
	for p := range gone.Features {
		other, err := s.redacts(gone, p)
		if err != nil {
			return nodes, changed, err
		}
		changed = changed || other
	}
	return nodes, changed, nil
}

// redacts reports whether the erasure changes a row of the store.
func (s Graph) redacts(gone stored.Erasure, p lethe.Pseudonym) (bool, error) {
	value, found, err := s.Row(p)
	if err != nil || !found || gone.Nodes[p] {
		return false, err
	}
	after, err := gone.Redacted(p, value)
	return !bytes.Equal(after, value), err
}
