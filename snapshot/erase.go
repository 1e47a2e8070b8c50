package snapshot

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"

	"lethe"
	"lethe/internal/sortedset"
	"lethe/internal/swapstore"
)

// Erase removes the targets in whatever state their timesteps are: their rows,
// labels, assignments, index entries and content hashes, every payment that
// names them, and whatever of them is pending or awaits confirmation. With a subject goes
// what carries it, which is suppressed by itself too. Of a payment its two
// transactions stay, and features of a transaction become 0. The store of a
// closed or settled timestep that held one is written anew, the old files are unlinked,
// and it has a new revision. One that held nothing else is gone, see Gone, and the
// closed timestep after it has a new revision. Nothing reads the targets any more when
// Erase returns nil, but the files of staging hold bytes of them until a Scrub has ended
// too; the keyed hash by which they stay suppressed is left (Erase suppresses them
// first).
//
// It is idempotent: after an error or a crash, call it again with the same
// targets; a timestep that was done before keeps its revision. What was there
// must be asked before, with Locate and Load. Errors: lethe.ErrTarget, those of
// the context and of the file system.
func (s *Store) Erase(ctx context.Context, targets []lethe.Target) error {
	if err := finishAll(ctx, s); err != nil {
		return fmt.Errorf("erase: %w", err)
	}
	targets, err := withCarried(s, targets)
	if err != nil {
		return err
	}
	if err := s.Suppress(targets); err != nil {
		return err
	}
	located, err := s.Locate(targets)
	if err != nil {
		return err
	}
	gone := erasureOf(located)
	if err := takeInRows(s.staging, located); err != nil {
		return fmt.Errorf("erase: %w", err)
	}
	timesteps := map[lethe.Timestep]struct{}{}
	for _, l := range located {
		if l.State > lethe.Open {
			timesteps[l.Timestep] = struct{}{}
		}
	}
	if err = (transition{s, s.staging.change()}).eraseFrom(ctx, slices.Sorted(maps.Keys(timesteps)), gone); err != nil {
		return fmt.Errorf("erase: %w", err)
	}
	if err := (transition{s, s.staging.change()}).dropEmpty(); err != nil {
		return fmt.Errorf("erase: drop empty timesteps: %w", err)
	}
	if err := s.closed.removeUnlisted(s.staging.isListed); err != nil {
		return fmt.Errorf("erase: %w", err)
	}
	if err := redactStaging(s, gone); err != nil {
		return fmt.Errorf("redact staging: %w", err)
	}
	if err := s.staging.erase(gone); err != nil {
		return fmt.Errorf("erase from staging: %w", err)
	}
	return nil
}

// eraseFrom erases from closed timesteps. The notes in staging let Open take the
// revisions over after a crash.
func (t transition) eraseFrom(ctx context.Context, timesteps []lethe.Timestep, gone erasure) error {
	err := t.staging.Apply(func(w swapstore.Writer) error {
		for _, at := range timesteps {
			if err := w.Set(timestepKey(kindRewriting, at), nil); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	for together := range slices.Chunk(timesteps, min(t.staging.options.RewriteAtOnce, t.store.closed.capacity)) {
		if err := t.eraseTogether(ctx, together, gone); err != nil {
			return err
		}
	}
	return nil
}

// eraseTogether erases from a few timesteps at a time.
func (t transition) eraseTogether(ctx context.Context, timesteps []lethe.Timestep, gone erasure) error {
	stores, metas := make([]graphStore, len(timesteps)), make([]meta, len(timesteps))
	for i, at := range timesteps {
		var err error
		if stores[i], err = t.store.closed.get(at); err != nil {
			return err
		}
	}
	failed := make([]error, len(timesteps))
	var group sync.WaitGroup
	for i, store := range stores {
		group.Go(func() { metas[i], failed[i] = store.erase(ctx, gone) })
	}
	group.Wait()
	for i, at := range timesteps {
		if failed[i] != nil {
			// A store whose switch is in doubt has to be opened afresh.
			failed[i] = fmt.Errorf("timestep %d: %w", at, errors.Join(failed[i], t.store.closed.close(at)))
			continue
		}
		t.staging.infos[at] = metas[i].applyTo(t.staging.infos[at])
	}
	return errors.Join(failed...)
}

// dropEmpty takes the closed timesteps that are empty out of the stream. What waits
// for one may bring it back.
func (t transition) dropEmpty() error {
	gone := maps.Clone(t.staging.gone)
	var empty []lethe.Timestep
	for _, i := range t.staging.timesteps() {
		if i.State == lethe.Open || i.Nodes > 0 {
			continue
		}
		empty = append(empty, i.Timestep)
		gone[i.Timestep] = i.Revision + 1
		t.infos[i.Timestep] = Info{Timestep: i.Timestep, State: lethe.Open, Previous: lethe.NoTimestep}
		t.set(timestepKey(kindGone, i.Timestep), binary.BigEndian.AppendUint32(nil, uint32(i.Revision)+1))
		t.drop(timestepKey(kindRewriting, i.Timestep))
	}
	if len(empty) == 0 {
		return nil
	}
	for _, at := range empty {
		if err := t.relink(at); err != nil {
			return err
		}
	}
	if err := t.judgeAll(lethe.NoTimestep, nil, true); err != nil {
		return err
	}
	// What waits again in a timestep that nobody knew of makes it known.
	for _, at := range sortedset.Add(empty, t.unjudged...) {
		if t.info(at).State > lethe.Open {
			continue
		}
		if err := t.recount(at); err != nil {
			return err
		}
	}
	if err := t.apply(); err != nil {
		return err
	}
	t.staging.gone = gone
	return nil
}

// recount counts what staging holds of a timestep that is open again.
func (c *changes) recount(t lethe.Timestep) error {
	i := c.info(t)
	i.Nodes, i.Payments, i.Labels = 0, 0, 0
	err := scanRows(c.staging, t, func(staged) error {
		i.Nodes++
		return nil
	})
	if err != nil {
		return err
	}
	for kind, n := range map[byte]*int{kindPayment: &i.Payments, kindLabel: &i.Labels} {
		err := c.staging.scanAt(kind, t, func(e staged) error {
			if value := c.writes[string(e.key)]; value != nil {
				e.value = value
			}
			if !isJudged(e.value) {
				*n++
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	c.infos[t] = i
	return nil
}

// erasure is what is to be erased.
type erasure struct{ lethe.Removal }

// erasureOf is what some targets are.
func erasureOf(located []Located) erasure { return erasure{RemovalOf(located)} }

// names reports whether what is about some transactions is to go: with one of them, or as
// the payment between them.
func (e erasure) names(about []lethe.Pseudonym) bool {
	if len(about) == 2 && e.Payments[lethe.PseudonymPair{Source: about[0], Target: about[1]}] {
		return true
	}
	return slices.ContainsFunc(about, func(p lethe.Pseudonym) bool { return e.Nodes[p] })
}

// isIn reports whether what the transactions at the end of a key are about is to go.
func (e erasure) isIn(key []byte, prefix int) (bool, error) {
	about, err := pseudonymsAfter(key, prefix, (len(key)-prefix)/pseudonymBytes)
	return e.names(about), err
}

// erase writes the store anew without what goes, under a new revision if it held any of
// that, and returns its description.
func (s graphStore) erase(ctx context.Context, gone erasure) (meta, error) {
	m, err := s.meta()
	if err != nil {
		return m, err
	}
	lost, changed, err := s.lose(gone)
	if err != nil {
		return m, err
	}
	if m.nodes -= lost; changed {
		m.revision++
	}
	m.payments, m.labelled = 0, 0
	// Keys come in the order payments, assignments, description, rows, so that the
	// description's counts are known when it is due.
	err = s.Rewrite(ctx, func(src swapstore.Reader, dst swapstore.Writer) error {
		return src.Scan(nil, func(key, value []byte) error {
			drop, err := gone.isIn(key, 1)
			if err != nil || drop {
				return err
			}
			switch key[0] {
			case kindEdge:
				m.payments++
			case kindAssigned:
				label, _, err := decodeAssigned(value)
				if err != nil {
					return err
				}
				if label != lethe.Unknown {
					m.labelled++
				}
			case kindMeta:
				value = m.encode()
			case kindNode:
				if value, err = gone.redactedRow(lethe.Pseudonym(key[1:]), value); err != nil {
					return err
				}
			}
			return dst.Set(key, value)
		})
	})
	return m, err
}

// lose counts the nodes that go, and reports whether anything does.
func (s graphStore) lose(gone erasure) (nodes int, changed bool, err error) {
	for p := range gone.Nodes {
		_, found, err := s.Get(pseudonymKey(kindNode, p))
		if err != nil {
			return nodes, changed, err
		}
		if found {
			nodes++
		}
	}
	changed = nodes > 0
	for p := range gone.Payments {
		_, found, err := s.Get(pseudonymKey(kindEdge, p.Source, p.Target))
		if err != nil {
			return nodes, changed, err
		}
		changed = changed || found
	}
	for p := range gone.Features {
		other, err := s.changesRow(gone, p)
		if err != nil {
			return nodes, changed, err
		}
		changed = changed || other
	}
	return nodes, changed, nil
}
