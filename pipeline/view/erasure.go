package view

import (
	"bytes"
	"context"
	"fmt"

	"lethe/deletions"
	"lethe/deletions/scan"
	"lethe/ingest/bus"
	"lethe/internal/swapstore"
	"lethe/pipeline/role"
	"lethe/pipeline/wire"
)

type erasure = role.Erasure[own]

// own is the role's state of an open request.
type own struct {
	// scanner is set once a store was rewritten.
	scanner *scan.Scanner
	// ends are the topics' ends when the final search was asked for, in an attempt.
	ends  map[bus.TopicPartition]int64
	asked int
}

// erasing carries out the commands of erasures.
type erasing struct {
	*state
	role.Erasures[own]
	o Options
}

// takeCommand carries out a command.
func (r *erasing) takeCommand(e *erasure) error {
	c := e.Command
	if c.Phase == wire.PhaseLift {
		return r.hidden.lift(r.store, c.Suppressed)
	}
	if !c.Phase.Rewrites() {
		return r.hidden.put(r.store, c.Suppressed, suppressed)
	}
	var err error
	if e.Own.scanner, err = scan.NewScanner(r.secret, c.Fingerprints); err != nil {
		return err
	}
	if err := r.hidden.put(r.store, c.Suppressed, purged); err != nil {
		return err
	}
	if err := r.purge(c.Suppressed); err != nil {
		return err
	}
	for _, step := range c.Steps {
		if err := r.forgetStep(step); err != nil {
			return fmt.Errorf("timestep %d: %w", step.Timestep, err)
		}
	}
	return nil
}

// isGone reports whether a command removes the message's timestep.
func (r *erasing) isGone(m wire.Received) bool {
	for _, e := range r.Open {
		if e.Command.Removes(m) && !m.Deleted {
			return true
		}
	}
	return false
}

// namesErased reports whether a value names something being erased.
func (r *erasing) namesErased(value []byte) bool {
	for _, e := range r.Open {
		if s := e.Own.scanner; s != nil && (len(s.ScanBytes(value)) > 0 || len(s.MatchText(value)) > 0) {
			return true
		}
	}
	return false
}

// acknowledge does and acknowledges the next possible step of a command.
func (r *erasing) acknowledge(ctx context.Context, e *erasure) (a deletions.Ack, err error) {
	c := e.Command
	switch {
	case c.Phase == wire.PhaseLift:
		if e.Owes(deletions.StepLifted) {
			a = r.Ack(e, deletions.StepLifted)
		}
		return a, nil
	case e.Owes(deletions.StepSuppressed):
		return r.Ack(e, deletions.StepSuppressed), nil
	case !c.Phase.Rewrites():
		return a, nil
	}
	if served, err := r.swapped(c); err != nil || !served {
		return a, err
	}
	if there, err := r.replaced(c); err != nil || !there {
		return a, err
	}
	switch {
	case e.Owes(deletions.StepErased):
		return r.searched(ctx, e, deletions.StepErased)
	case c.Phase == wire.PhaseSearch && e.Owes(deletions.StepScanned):
		if read, err := r.readAll(ctx, e); err != nil || !read {
			return a, err
		}
		return r.searched(ctx, e, deletions.StepScanned)
	}
	return a, nil
}

// replaced reports whether the replaced graphs and manifests have arrived.
func (r *erasing) replaced(c *wire.Command) (bool, error) {
	for _, step := range c.Steps {
		at, settled, err := r.revisions(step.Timestep)
		if err != nil {
			return false, err
		}
		if !step.Gone && (at < step.Revision || step.Settled && settled < step.Revision) {
			return false, nil
		}
	}
	return true, nil
}

// swapped reports whether the new models are served. Rewriting earlier would have to be repeated for their
// predictions, and compete with training. A command to search comes after the swap, whatever became of the leading
// request.
func (r *erasing) swapped(c *wire.Command) (bool, error) {
	if c.Phase == wire.PhaseSearch {
		return true, nil
	}
	value, found, err := r.store.Get([]byte(statusPrefix + c.RequestID))
	if err != nil || !found {
		return false, err
	}
	status, err := deletions.DecodeStatus(value)
	return status.State.IsSwapped(), err
}

// readAll reports whether the topics were read to their ends at the command to search. Later records are clean.
func (r *erasing) readAll(ctx context.Context, e *erasure) (bool, error) {
	if e.Own.ends == nil || e.Own.asked < e.Command.Attempt {
		ends, err := bus.EndsOf(ctx, r.o.Bus, topics()...)
		if err != nil {
			return false, err
		}
		e.Own.ends, e.Own.asked = ends, e.Command.Attempt
	}
	for tp, end := range e.Own.ends {
		if r.next[tp] < end {
			return false, nil
		}
	}
	return true, nil
}

// searched searches the files, rewrites the store if anything is found, and acknowledges the rest.
func (r *erasing) searched(ctx context.Context, e *erasure, step deletions.Step) (deletions.Ack, error) {
	summary, err := r.search(ctx, e)
	if err == nil && summary.Hits > 0 {
		if err = r.scrub(ctx, e.Own.scanner); err == nil {
			summary, err = r.search(ctx, e)
		}
	}
	a := r.Ack(e, step)
	a.Scan = &summary
	return a, err
}

func (r *erasing) search(ctx context.Context, e *erasure) (scan.Summary, error) {
	return e.Command.Search(ctx, r.secret, swapstore.Files(r.o.FS, r.o.Dir), r.o.Pacer)
}

// scrub rewrites the store without deleted bytes, and without entries of other roles that still name something
// erased.
func (r *erasing) scrub(ctx context.Context, scanner *scan.Scanner) error {
	err := r.store.Rewrite(ctx, func(src swapstore.Reader, dst swapstore.Writer) error {
		return src.Scan(nil, func(key, value []byte) error {
			made := bytes.HasPrefix(key, []byte(reasonsPrefix)) || bytes.HasPrefix(key, []byte(manifestPrefix)) ||
				bytes.HasPrefix(key, []byte(letterPrefix))
			if made && len(scanner.ScanBytes(value)) > 0 {
				return nil
			}
			dst.Set(key, value)
			return nil
		})
	})
	if err != nil {
		return fmt.Errorf("write the store anew: %w", err)
	}
	return nil
}
