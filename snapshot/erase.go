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
	"lethe/snapshot/closed"
	"lethe/snapshot/stored"
)

// Erase removes the targets whatever the state of their timesteps: rows, labels, assignments, index entries, content
// hashes, every payment that names a target, and everything pending or unconfirmed about it. Erasing a subject also
// erases its carriers, each suppressed on its own. Erasing a payment keeps its two transactions; erased features
// become 0. The store of a closed or settled timestep that held a target is rewritten under a new revision, and the
// old files are unlinked. A timestep that becomes empty is deleted (see Gone), and the closed timestep after it gets a
// new revision. Once Erase returns nil, no read returns a target any more, but the files of staging contain their
// bytes until a Scrub has completed. The keyed hashes that suppress the targets stay; Erase stores them first.
//
// Erase is idempotent: after an error or a crash, call it again with the same targets; a timestep that was already
// rewritten keeps its revision. Use Locate and Load before Erase to read the stored data. Errors: lethe.ErrTarget,
// those of the context and of the file system.
func (s *Store) Erase(ctx context.Context, targets []lethe.Target) error {
	if err := finishAll(ctx, s); err != nil {
		return fmt.Errorf("erase: %w", err)
	}
	targets, err := withCarried(s, targets)
	if err != nil {
		return err
	}
	if err := s.Suppressed().Add(targets); err != nil {
		return err
	}
	located, err := s.Locate(targets)
	if err != nil {
		return err
	}
	gone := stored.Erasure{Removal: RemovalOf(located)}
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
	if err := s.closed.RemoveUnlisted(s.staging.isListed); err != nil {
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

// eraseFrom erases from closed timesteps. The kindRewriting entries let Open adopt the new
// revisions after a crash.
func (t transition) eraseFrom(ctx context.Context, timesteps []lethe.Timestep, gone stored.Erasure) error {
	err := t.staging.Apply(func(w swapstore.Writer) error {
		for _, at := range timesteps {
			w.Set(timestepKey(kindRewriting, at), nil)
		}
		return nil
	})
	if err != nil {
		return err
	}
	for together := range slices.Chunk(timesteps, min(t.staging.options.RewriteAtOnce, t.store.closed.Capacity())) {
		if err := t.eraseTogether(ctx, together, gone); err != nil {
			return err
		}
	}
	return nil
}

// eraseTogether erases from several timesteps in parallel.
func (t transition) eraseTogether(ctx context.Context, timesteps []lethe.Timestep, gone stored.Erasure) error {
	stores, found := make([]closed.Graph, len(timesteps)), make([]closed.Description, len(timesteps))
	for i, at := range timesteps {
		var err error
		if stores[i], err = t.store.closed.Get(at); err != nil {
			return err
		}
	}
	failed := make([]error, len(timesteps))
	var group sync.WaitGroup
	for i, store := range stores {
		group.Go(func() { found[i], failed[i] = store.Erase(ctx, gone) })
	}
	group.Wait()
	for i, at := range timesteps {
		if failed[i] != nil {
			// The switch may or may not have happened, so the store must be reopened.
			failed[i] = fmt.Errorf("timestep %d: %w", at, errors.Join(failed[i], t.store.closed.Close(at)))
			continue
		}
		t.staging.infos[at] = t.staging.infos[at].describedBy(found[i])
	}
	return errors.Join(failed...)
}

// dropEmpty deletes closed timesteps that have become empty. Records that wait for one may bring
// it back.
func (t transition) dropEmpty() error {
	gone := maps.Clone(t.staging.gone)
	var empty []lethe.Timestep
	for _, i := range t.staging.Timesteps() {
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
	// A payment or label that waits again makes its unknown timestep known.
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

// recount counts the entries of staging for a timestep that is open again.
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
