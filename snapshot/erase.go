package snapshot

import (
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"fmt"
	"maps"
	"slices"

	"golang.org/x/sync/errgroup"

	"lethe"
	"lethe/internal/floatbytes"
	"lethe/internal/sortedset"
	"lethe/snapshot/stored"
)

// Erase removes the targets whatever the state of their timesteps: rows, labels, assignments, index entries, content
// hashes, every payment that names a target, and everything pending or unconfirmed about it. Erasing a subject also
// erases its carriers, each suppressed on its own. Erasing a payment keeps its two transactions; erased features
// become 0. The files of a closed or settled timestep that held a target are rewritten under a new revision, and the
// old ones are unlinked. A timestep that becomes empty is deleted (see Gone), and the closed timestep after it gets a
// new revision. Once Erase returns nil, no read returns a target any more, but the files of staging contain their
// bytes until a Scrub has completed. The keyed hashes that suppress the targets stay; Erase stores them first.
//
// Erase is idempotent: after an error or a crash, call it again with the same targets; a timestep that was already
// rewritten keeps its revision. Use Locate and Load before Erase to read the stored data. Errors: lethe.ErrTarget,
// those of the context and of the file system.
func (s *Store) Erase(ctx context.Context, targets []lethe.Target) error {
	if err := s.closing.finish(ctx); err != nil {
		return fmt.Errorf("erase: %w", err)
	}
	located, err := s.Locate(targets)
	if err != nil {
		return err
	}
	targets = withCarried(targets, located)
	if err := s.Suppressed().Add(targets); err != nil {
		return err
	}
	if located, err = s.Locate(targets); err != nil {
		return err
	}
	gone := stored.Erasure{Removal: RemovalOf(located)}
	if err := s.staging.takeInRows(located); err != nil {
		return fmt.Errorf("erase: %w", err)
	}
	timesteps := map[lethe.Timestep]struct{}{}
	for _, l := range located {
		if l.State > lethe.Open {
			timesteps[l.Timestep] = struct{}{}
		}
	}
	if err := s.eraseFrom(ctx, slices.Sorted(maps.Keys(timesteps)), gone.Removal); err != nil {
		return fmt.Errorf("erase: %w", err)
	}
	if err := (transition{s, s.staging.change()}).dropEmpty(); err != nil {
		return fmt.Errorf("erase: drop empty timesteps: %w", err)
	}
	if err := s.closed.RemoveUnlisted(s.staging.files); err != nil {
		return fmt.Errorf("erase: %w", err)
	}
	if err := (transition{s, s.staging.change()}).eraseStaged(gone); err != nil {
		return fmt.Errorf("erase from staging: %w", err)
	}
	return nil
}

// eraseFrom erases from closed timesteps, several in parallel.
func (s *Store) eraseFrom(ctx context.Context, timesteps []lethe.Timestep, gone lethe.Removal) error {
	for together := range slices.Chunk(timesteps, s.staging.options.RewriteAtOnce) {
		next, infos := transition{s, s.staging.change()}, make([]Info, len(together))
		var group errgroup.Group
		for i, at := range together {
			group.Go(func() (err error) {
				if infos[i], err = next.without(s.Info(at), gone); err != nil {
					err = fmt.Errorf("timestep %d: %w", at, err)
				}
				return err
			})
		}
		if err := cmp.Or(group.Wait(), ctx.Err()); err != nil {
			return err
		}
		for i, at := range together {
			next.infos[at] = infos[i]
		}
		if err := next.apply(); err != nil {
			return err
		}
	}
	return nil
}

// without rewrites a closed timestep without deleted data, if it has any, and returns its new info. It is called
// concurrently.
func (t transition) without(i Info, gone lethe.Removal) (Info, error) {
	before, err := t.store.closed.read(i)
	if err != nil {
		return i, err
	}
	rest := before.Without(gone)
	s, r := before.Snapshot, rest.Snapshot
	if len(s.Nodes) == len(r.Nodes) && len(s.Payments) == len(r.Payments) &&
		bytes.Equal(floatbytes.View(nil, s.Features), floatbytes.View(nil, r.Features)) {
		return i, nil
	}
	return t.rewrite(i, r, rest.Assignment)
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
	}
	if len(empty) == 0 {
		return nil
	}
	for _, at := range empty {
		t.relink(at)
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
	err := c.staging.scanRows(t, func(staged) error {
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
