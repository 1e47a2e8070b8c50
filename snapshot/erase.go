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

// eraseFrom erases from closed timesteps. The notes in staging let Open take the
// revisions over after a crash.
func (t transition) eraseFrom(ctx context.Context, timesteps []lethe.Timestep, gone stored.Erasure) error {
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
	for together := range slices.Chunk(timesteps, min(t.staging.options.RewriteAtOnce, t.store.closed.Capacity())) {
		if err := t.eraseTogether(ctx, together, gone); err != nil {
			return err
		}
	}
	return nil
}

// eraseTogether erases from a few timesteps at a time.
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
			// A store whose switch is in doubt has to be opened afresh.
			failed[i] = fmt.Errorf("timestep %d: %w", at, errors.Join(failed[i], t.store.closed.Close(at)))
			continue
		}
		t.staging.infos[at] = t.staging.infos[at].describedBy(found[i])
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
