package snapshot

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"lethe"
	"lethe/snapshot/openrows"
	"lethe/snapshot/stored"
)

// ReopenTimestep adds the late records of a timestep that Waiting lists, and reports whether they
// changed it. A changed timestep is rewritten without the old bytes, gets a new revision and, if
// settled, new shards from assign. An unknown timestep is inserted, and the closed one after it
// gets a new revision too. Records that still refer to nothing are rejected (see Letters). If
// nothing waits, it does nothing. Errors are those of SettleTimestep.
func (s *Store) ReopenTimestep(ctx context.Context, t lethe.Timestep, assign Assign) (changed bool, err error) {
	if !slices.Contains(s.Waiting(), t) {
		return false, nil
	}
	next := transition{s, s.staging.change()}
	i := s.staging.Info(t)
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

// insert closes a timestep that precedes the newest closed one, and settles it if a later
// timestep is settled.
func (t transition) insert(ctx context.Context, i Info, assign Assign) (*lethe.Snapshot, error) {
	g, _, err := t.staging.assemble(ctx, t.changes, i.Timestep, nil, i.Nodes)
	if err != nil {
		return nil, err
	}
	g.Revision = t.staging.gone[i.Timestep] + 1
	if err := t.store.closed.Write(g); err != nil {
		return nil, err
	}
	t.list(i, g)
	if i.Timestep < t.newest(lethe.Settled) {
		if err := t.settle(ctx, t.info(i.Timestep), g, assign); err != nil {
			return nil, err
		}
	}
	t.relink(i.Timestep)
	return g, nil
}

// reopen rewrites a closed timestep with the records that wait for it, if they change it.
func (t transition) reopen(ctx context.Context, i Info, assign Assign) (*lethe.Snapshot, bool, error) {
	base, err := t.store.Load(i.Timestep)
	if err != nil {
		return nil, false, err
	}
	i.Waiting = 0
	g, changed, err := t.staging.assemble(ctx, t.changes, i.Timestep, base.Snapshot, len(base.Snapshot.Nodes))
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
		if i, err = t.rewrite(i, g, shards); err != nil {
			return nil, false, err
		}
		i.Reopened = i.Revision
	}
	t.infos[i.Timestep] = i
	return g, changed, nil
}

// Redeal is a timestep to be partitioned again.
type Redeal struct {
	Timestep lethe.Timestep
	// Renew forces a new revision even if the shards stay the same, because the published slices differ from those of
	// these shards.
	Renew bool
}

// Repartition assigns shards to the transactions of settled timesteps again, using assign on their current content.
// Changed shards replace the old ones under a new revision. A timestep whose shards stay the same is left unchanged
// unless Renew is set, as are timesteps that are not settled or were deleted. After an Erase this makes the assignment
// independent of the erased records.
//
// It is idempotent as long as assign is a pure function and Renew is not set: after an error or a crash, call it again
// with the same timesteps. Errors: those of assign, of the context and of the file system.
func (s *Store) Repartition(ctx context.Context, list []Redeal, assign Assign) error {
	for _, r := range list {
		err := ctx.Err()
		if err == nil {
			err = (transition{s, s.staging.change()}).repartition(r, assign)
		}
		if err != nil {
			return fmt.Errorf("partition timestep %d afresh: %w", r.Timestep, err)
		}
	}
	return nil
}

func (t transition) repartition(r Redeal, assign Assign) error {
	at := r.Timestep
	i := t.info(at)
	if i.State != lethe.Settled {
		return nil
	}
	content, err := t.store.Load(at)
	if err != nil {
		return err
	}
	shards, err := assign.run(content.Snapshot)
	if err != nil || !r.Renew && slices.Equal(shards, content.Assignment) {
		return err
	}
	i.Revision++
	content.Snapshot.Revision = i.Revision
	if t.infos[at], err = t.assign(i, content.Snapshot, shards); err != nil {
		return err
	}
	return t.apply()
}

// assemble builds the graph of a timestep from its base, which is nil at the first close, and the
// entries that wait in staging, and reports whether the result differs from the base. Entries
// that join the graph are dropped from staging. expected is the number of transactions to
// allocate for.
func (s *staging) assemble(
	ctx context.Context, c *changes, t lethe.Timestep, base *lethe.Snapshot, expected int,
) (g *lethe.Snapshot, changed bool, err error) {
	m := merger{graph: &lethe.Snapshot{Timestep: t, FeatureCount: s.featureCount}, base: base}
	m.graph.Nodes = make([]lethe.SnapshotNode, 0, expected)
	m.graph.Features = make([]float32, 0, expected*s.featureCount)
	if c.files, err = s.rows.Files(t); err != nil {
		return nil, false, err
	}
	for _, prefix := range openrows.Prefixes(t) {
		c.dropAll(prefix)
	}
	err = s.scanRows(t, func(e staged) error { return errors.Join(ctx.Err(), m.take(e)) })
	if err != nil {
		return nil, false, err
	}
	m.finish()
	err = s.scanAt(kindPayment, t, func(e staged) error {
		if stored.AddPayment(m.graph, e.about[0], e.about[1]) {
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

// label applies pending labels to the snapshot's nodes, and reports whether a label changed.
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

// merger merges the rows of a base with new ones. New rows must arrive in the order of their
// pseudonyms; they replace those of the base.
type merger struct {
	graph, base *lethe.Snapshot
	// next is the base's first node that is not in the graph yet.
	next    int
	changed bool
}

// take adds a new row.
func (m *merger) take(e staged) error {
	m.skipTo(func(n lethe.SnapshotNode) bool { return n.Pseudonym.Compare(e.about[0]) >= 0 })
	if err := stored.AddNode(m.graph, e.about[0], e.value); err != nil {
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

// skipTo adds the base's nodes before the first one for which holds is true.
func (m *merger) skipTo(holds func(lethe.SnapshotNode) bool) {
	if m.base == nil {
		return
	}
	for ; m.next < len(m.base.Nodes) && !holds(m.base.Nodes[m.next]); m.next++ {
		m.graph.Nodes = append(m.graph.Nodes, m.base.Nodes[m.next])
		m.graph.Features = append(m.graph.Features, m.base.Row(m.next)...)
	}
}

// finish adds the remaining nodes of the base, then its payments.
func (m *merger) finish() {
	m.skipTo(func(lethe.SnapshotNode) bool { return false })
	if m.base == nil {
		return
	}
	for _, p := range m.base.Payments {
		stored.AddPayment(m.graph, m.base.Nodes[p.Source].Pseudonym, m.base.Nodes[p.Target].Pseudonym)
	}
}
