package closed

import (
	"context"

	"lethe"
	"lethe/internal/swapstore"
	"lethe/snapshot/stored"
)

// Replace rewrites the store with another graph, without the old bytes, and returns its
// description. shards is nil until the timestep is settled.
func (s Graph) Replace(ctx context.Context, g *lethe.Snapshot, shards []lethe.ShardID) (Description, error) {
	d := describe(g)
	err := s.Rewrite(ctx, func(_ swapstore.Reader, dst swapstore.Writer) error {
		d.fill(dst, g, shards)
		return nil
	})
	return d, err
}

// fill writes the whole store of a graph and counts labelled nodes. Keys ascend: payments,
// assignments, description, rows.
func (d *Description) fill(dst swapstore.Writer, g *lethe.Snapshot, shards []lethe.ShardID) {
	for _, p := range g.Payments {
		dst.Set(PaymentKey(g.Nodes[p.Source].Pseudonym, g.Nodes[p.Target].Pseudonym), nil)
	}
	if shards != nil {
		d.assign(dst, g, shards)
	}
	dst.Set([]byte{kindMeta}, d.encode())
	var key, row []byte // Set copies them
	for i, n := range g.Nodes {
		key = append(append(key[:0], kindNode), n.Pseudonym[:]...)
		row = stored.Row{ID: n.ID, Features: g.Row(i)}.AppendTo(row[:0])
		dst.Set(key, row)
	}
}

// assign writes labels and shards, and counts labelled nodes.
func (d *Description) assign(dst swapstore.Writer, g *lethe.Snapshot, shards []lethe.ShardID) {
	d.Labelled = 0
	for i, n := range g.Nodes {
		if n.Label != lethe.Unknown {
			d.Labelled++
		}
		dst.Set(stored.Key(kindAssigned, n.Pseudonym), encodeAssigned(n.Label, shards[i]))
	}
}

// Assign stores labels and shards. They are not read until staging lists the timestep as settled.
func (s Graph) Assign(g *lethe.Snapshot, shards []lethe.ShardID) (Description, error) {
	return s.redescribe(func(d *Description, w swapstore.Writer) { d.assign(w, g, shards) })
}

// Raise sets the revision to one above both the store's own and behind.
func (s Graph) Raise(behind lethe.Revision) (Description, error) {
	return s.redescribe(func(d *Description, _ swapstore.Writer) { d.Revision = max(d.Revision, behind) + 1 })
}

// Adopt sets the revision to one under which the same content exists elsewhere.
func (s Graph) Adopt(r lethe.Revision) (Description, error) {
	return s.redescribe(func(d *Description, _ swapstore.Writer) { d.Revision = r })
}

// redescribe applies fn's writes together with the description that fn updates.
func (s Graph) redescribe(fn func(*Description, swapstore.Writer)) (Description, error) {
	d, err := s.Describe()
	if err != nil {
		return d, err
	}
	return d, s.Apply(func(w swapstore.Writer) error {
		fn(&d, w)
		w.Set([]byte{kindMeta}, d.encode())
		return nil
	})
}
