package snapshot

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"lethe"
	"lethe/internal/swapstore"
	"lethe/snapshot/openrows"
	"lethe/snapshot/stored"
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
	g, _, err := t.staging.assemble(ctx, t.changes, i.Timestep, nil, i.Nodes)
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
	store, err := t.store.closed.Get(i.Timestep)
	if err != nil {
		return i, err
	}
	d, err := store.Replace(ctx, g, shards)
	if err != nil {
		// A store whose switch is in doubt has to be opened afresh.
		return i, errors.Join(err, t.store.closed.Close(i.Timestep))
	}
	i = i.describedBy(d)
	i.Reopened = i.Revision
	t.drop(timestepKey(kindRewriting, i.Timestep))
	return i, nil
}

// Redeal is a timestep whose transactions are given shards afresh.
type Redeal struct {
	Timestep lethe.Timestep
	// Renew gives it a new revision even if everybody stays: what was published of it is
	// not what these shards give.
	Renew bool
}

// Repartition gives the transactions of settled timesteps the shards that assign chooses for
// them as they are now. A store whose shards become others is written anew, without the old
// ones, and has a new revision; one whose shards stay is left alone unless it is to be
// renewed, as are timesteps that are not settled, or gone. After an Erase this makes the
// assignment one that the erased had no part in.
//
// It is idempotent as long as assign is a pure function and nothing is renewed: after an
// error or a crash, call it again with the same timesteps. Errors: those of assign, of the
// context and of the file system.
func (s *Store) Repartition(ctx context.Context, list []Redeal, assign Assign) error {
	for _, r := range list {
		if err := (transition{s, s.staging.change()}).repartition(ctx, r, assign); err != nil {
			return fmt.Errorf("partition timestep %d afresh: %w", r.Timestep, err)
		}
	}
	return nil
}

func (t transition) repartition(ctx context.Context, r Redeal, assign Assign) error {
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
	// Without a value: it is not reopened, and whoever asked publishes it.
	err = t.staging.Apply(func(w swapstore.Writer) error { return w.Set(timestepKey(kindRewriting, at), nil) })
	if err != nil {
		return err
	}
	store, err := t.store.closed.Get(at)
	if err != nil {
		return err
	}
	content.Snapshot.Revision = i.Revision + 1
	d, err := store.Replace(ctx, content.Snapshot, shards)
	if err != nil {
		// A store whose switch is in doubt has to be opened afresh.
		return errors.Join(err, t.store.closed.Close(at))
	}
	t.infos[at] = i.describedBy(d)
	t.drop(timestepKey(kindRewriting, at))
	return t.apply()
}

// assemble makes the graph of a timestep from its base, which is nil until it closes,
// and what waits in staging, and reports whether that differs from the base. What the
// graph takes is dropped from staging. It makes room for so many transactions.
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
	err = scanRows(s, t, func(e staged) error { return errors.Join(ctx.Err(), m.take(e)) })
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
		stored.AddPayment(m.graph, m.base.Nodes[p.Source].Pseudonym, m.base.Nodes[p.Target].Pseudonym)
	}
}
