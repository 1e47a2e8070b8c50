package snapshot

import (
	"context"
	"errors"
	"slices"

	"lethe"
)

// Waiting lists the timesteps up to the newest closed one that late records wait to
// change, ascending: those that are closed, and those that would be inserted.
func (s *Store) Waiting() []lethe.Timestep {
	infos := s.staging.timesteps()
	closed, settled := newestOf(infos, lethe.Closed), newestOf(infos, lethe.Settled)
	var out []lethe.Timestep
	for _, i := range infos {
		passed := i.Timestep < closed && i.Nodes+i.Payments > 0 || i.Timestep < settled && i.Labels > 0
		if i.Waiting > 0 || i.State == lethe.Open && passed {
			out = append(out, i.Timestep)
		}
	}
	return out
}

// ReopenTimestep makes the late records of a timestep that Waiting lists part of it,
// and reports whether they changed it. Then it was written anew, without the old
// bytes, has a new revision and, if it is settled, shards by assign. A timestep that
// nobody knew of is inserted; that after it gets a new revision too. What still
// refers to nothing is refused (see Letters). On a timestep for which nothing waits
// it does nothing. Errors are those of SettleTimestep.
func (s *Store) ReopenTimestep(ctx context.Context, t lethe.Timestep, assign Assign) (changed bool, err error) {
	if !slices.Contains(s.Waiting(), t) {
		return false, nil
	}
	next := transition{s, s.staging.change()}
	i := s.staging.info(t)
	var g *lethe.Snapshot
	switch {
	case i.State > lethe.Open:
		g, changed, err = next.reopen(ctx, i, assign)
	case i.Nodes > 0:
		g, err = next.insert(ctx, i, assign)
		changed = true
	}
	if err != nil {
		return false, err
	}
	return changed, next.conclude(t, g)
}

// insert closes a timestep before the newest closed one, and settles it if that after
// it is settled.
func (t transition) insert(ctx context.Context, i Info, assign Assign) (*lethe.Snapshot, error) {
	g, _, err := t.staging.assemble(ctx, t.changes, i.Timestep, nil)
	if err != nil {
		return nil, err
	}
	if err := t.begin(ctx, i, g); err != nil {
		return nil, err
	}
	if i.Timestep < t.newest(lethe.Settled) {
		if err := t.settle(ctx, t.info(i.Timestep), g, assign); err != nil {
			return nil, err
		}
	}
	return g, t.relink(i.Timestep)
}

// reopen writes a closed timestep anew with what waits for it, if that changes it.
func (t transition) reopen(ctx context.Context, i Info, assign Assign) (*lethe.Snapshot, bool, error) {
	base, err := t.store.Load(i.Timestep)
	if err != nil {
		return nil, false, err
	}
	i.Waiting = 0
	g, changed, err := t.staging.assemble(ctx, t.changes, i.Timestep, base.Snapshot)
	if err != nil {
		return nil, false, err
	}
	var shards []lethe.ShardID
	if i.State == lethe.Settled {
		corrected, err := t.staging.label(ctx, t.changes, g)
		if err != nil {
			return nil, false, err
		}
		if changed = changed || corrected; changed {
			if shards, err = assign.run(g); err != nil {
				return nil, false, err
			}
		}
	}
	if changed {
		g.Revision = i.Revision + 1
		if i, err = t.rewrite(ctx, i, g, shards); err != nil {
			return nil, false, err
		}
	}
	t.infos[i.Timestep] = i
	return g, changed, nil
}

// rewrite writes the store of a closed timestep anew and returns what is known of it
// then.
func (t transition) rewrite(ctx context.Context, i Info, g *lethe.Snapshot, shards []lethe.ShardID) (Info, error) {
	if err := t.noteReopening(i.Timestep); err != nil {
		return i, err
	}
	store, err := t.store.closed.get(i.Timestep)
	if err != nil {
		return i, err
	}
	m, err := store.replace(ctx, g, shards)
	if err != nil {
		// A store whose switch is in doubt has to be opened afresh.
		return i, errors.Join(err, t.store.closed.close(i.Timestep))
	}
	i = m.applyTo(i)
	i.Reopened = i.Revision
	t.drop(timestepKey(kindRewriting, i.Timestep))
	return i, nil
}

// assemble makes the graph of a timestep from its base, which is nil until it closes,
// and what waits in staging, and reports whether that differs from the base. What the
// graph takes is dropped from staging.
func (s *staging) assemble(
	ctx context.Context, c *changes, t lethe.Timestep, base *lethe.Snapshot,
) (g *lethe.Snapshot, changed bool, err error) {
	m := merger{graph: &lethe.Snapshot{Timestep: t, FeatureCount: s.featureCount}, base: base}
	nodes := s.info(t).Nodes // while it is open, and about as many after
	m.graph.Nodes = make([]lethe.SnapshotNode, 0, nodes)
	m.graph.Features = make([]float32, 0, nodes*s.featureCount)
	err = s.scanAt(kindRow, t, func(e staged) error {
		c.drop(e.key)
		return errors.Join(ctx.Err(), m.take(e))
	})
	if err != nil {
		return nil, false, err
	}
	m.finish()
	err = s.scanAt(kindPayment, t, func(e staged) error {
		if addPayment(m.graph, e.about) {
			c.drop(e.key)
			m.changed = true
		}
		return ctx.Err()
	})
	if err != nil {
		return nil, false, err
	}
	slices.SortFunc(m.graph.Payments, lethe.Arc.Compare)
	m.graph.Payments = slices.Compact(m.graph.Payments)
	return m.graph, m.changed, m.graph.Validate()
}

// label gives the snapshot's nodes the labels that wait for them, and reports whether
// one was another before.
func (s *staging) label(ctx context.Context, c *changes, g *lethe.Snapshot) (changed bool, err error) {
	err = s.scanAt(kindLabel, g.Timestep, func(e staged) error {
		p, err := decodeLabel(e.value)
		if err != nil {
			return err
		}
		if node, found := g.Find(e.about[0]); found {
			changed = changed || g.Nodes[node].Label != p.label
			g.Nodes[node].Label = p.label
			c.drop(e.key)
		}
		return ctx.Err()
	})
	return changed, err
}

// merger merges the rows of a base with new ones, which come in the order of their
// pseudonyms and replace those of the base.
type merger struct {
	graph, base *lethe.Snapshot
	// next is the base's first node that is not in the graph yet.
	next    int
	changed bool
}

// take adds a new row.
func (m *merger) take(e staged) error {
	m.skipTo(func(n lethe.SnapshotNode) bool { return n.Pseudonym.Compare(e.about[0]) >= 0 })
	if err := addNode(m.graph, e.about[0], e.value); err != nil {
		return err
	}
	last := len(m.graph.Nodes) - 1
	if m.base == nil || m.next == len(m.base.Nodes) || m.base.Nodes[m.next].Pseudonym != e.about[0] {
		m.changed = true
		return nil
	}
	m.graph.Nodes[last].Label = m.base.Nodes[m.next].Label
	m.changed = m.changed || !slices.Equal(m.graph.Row(last), m.base.Row(m.next))
	m.next++
	return nil
}

// skipTo adds the base's nodes up to the first of which it holds.
func (m *merger) skipTo(holds func(lethe.SnapshotNode) bool) {
	if m.base == nil {
		return
	}
	for ; m.next < len(m.base.Nodes) && !holds(m.base.Nodes[m.next]); m.next++ {
		m.graph.Nodes = append(m.graph.Nodes, m.base.Nodes[m.next])
		m.graph.Features = append(m.graph.Features, m.base.Row(m.next)...)
	}
}

// finish adds the rest of the base: nodes, then payments.
func (m *merger) finish() {
	m.skipTo(func(lethe.SnapshotNode) bool { return false })
	if m.base == nil {
		return
	}
	for _, p := range m.base.Payments {
		addPayment(m.graph, []lethe.Pseudonym{m.base.Nodes[p.Source].Pseudonym, m.base.Nodes[p.Target].Pseudonym})
	}
}
