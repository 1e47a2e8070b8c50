package closed

import (
	"context"

	"lethe"
	"lethe/internal/swapstore"
	"lethe/snapshot/stored"
)

// Replace writes the store anew with another graph, without the old bytes, and
// returns its description. shards are nil until the timestep is settled.
func (s Graph) Replace(ctx context.Context, g *lethe.Snapshot, shards []lethe.ShardID) (Description, error) {
	d := describe(g)
	err := s.Rewrite(ctx, func(_ swapstore.Reader, dst swapstore.Writer) error { return d.fill(dst, g, shards) })
	return d, err
}

// fill sets all that the store of a graph holds, and counts who is labelled. Keys ascend: payments,
// assignments, description, rows.
func (d *Description) fill(dst swapstore.Writer, g *lethe.Snapshot, shards []lethe.ShardID) error {
	for _, p := range g.Payments {
		key := PaymentKey(g.Nodes[p.Source].Pseudonym, g.Nodes[p.Target].Pseudonym)
		if err := dst.Set(key, nil); err != nil {
			return err
		}
	}
	if shards != nil {
		if err := d.assign(dst, g, shards); err != nil {
			return err
		}
	}
	if err := dst.Set([]byte{kindMeta}, d.encode()); err != nil {
		return err
	}
	var key, row []byte // which Set copies
	for i, n := range g.Nodes {
		key = append(append(key[:0], kindNode), n.Pseudonym[:]...)
		row = stored.Row{ID: n.ID, Features: g.Row(i)}.AppendTo(row[:0])
		if err := dst.Set(key, row); err != nil {
			return err
		}
	}
	return nil
}

// assign sets labels and shards, and counts who is labelled.
func (d *Description) assign(dst swapstore.Writer, g *lethe.Snapshot, shards []lethe.ShardID) error {
	d.Labelled = 0
	for i, n := range g.Nodes {
		if n.Label != lethe.Unknown {
			d.Labelled++
		}
		if err := dst.Set(stored.Key(kindAssigned, n.Pseudonym), encodeAssigned(n.Label, shards[i])); err != nil {
			return err
		}
	}
	return nil
}

// Assign stores labels and shards. Until staging lists the timestep as settled, nobody reads them.
func (s Graph) Assign(g *lethe.Snapshot, shards []lethe.ShardID) (Description, error) {
	return s.redescribe(func(d *Description, w swapstore.Writer) error { return d.assign(w, g, shards) })
}

// Raise gives the store the revision after its own and after another.
func (s Graph) Raise(behind lethe.Revision) (Description, error) {
	return s.redescribe(func(d *Description, _ swapstore.Writer) error {
		d.Revision = max(d.Revision, behind) + 1
		return nil
	})
}

// Adopt gives the store a revision that the same content has elsewhere.
func (s Graph) Adopt(r lethe.Revision) (Description, error) {
	return s.redescribe(func(d *Description, _ swapstore.Writer) error {
		d.Revision = r
		return nil
	})
}

// redescribe stores what fn sets together with the description that fn makes of the present one.
func (s Graph) redescribe(fn func(*Description, swapstore.Writer) error) (Description, error) {
	d, err := s.Describe()
	if err != nil {
		return d, err
	}
	return d, s.Apply(func(w swapstore.Writer) error {
		if err := fn(&d, w); err != nil {
			return err
		}
		return w.Set([]byte{kindMeta}, d.encode())
	})
}
