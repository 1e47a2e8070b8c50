package view

import (
	"context"
	"fmt"

	"lethe"
	"lethe/deletions"
	"lethe/deletions/scan"
	"lethe/ingest/bus"
	"lethe/internal/swapstore"
	"lethe/internal/timestepkey"
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

// takeNotices processes commands and statuses.
func (l *logic) takeNotices(notices []wire.Notice) error {
	if err := l.erasures.Take(notices, l.takeCommand); err != nil {
		return err
	}
	return l.takeStatuses(notices)
}

func (l *logic) takeCommand(e *erasure) error {
	c := e.Command
	if c.Phase == wire.PhaseLift {
		return l.hidden.lift(l.store, c.Suppressed)
	}
	if !c.Phase.Rewrites() {
		return l.hidden.put(l.store, c.Suppressed, suppressed)
	}
	var err error
	if e.Own.scanner, err = scan.NewScanner(l.o.Secret, c.Fingerprints); err != nil {
		return err
	}
	if err := l.hidden.put(l.store, c.Suppressed, purged); err != nil {
		return err
	}
	if err := purge(l, c.Suppressed); err != nil {
		return err
	}
	for _, step := range c.Steps {
		if err := forgetStep(l, step); err != nil {
			return fmt.Errorf("timestep %d: %w", step.Timestep, err)
		}
	}
	return nil
}

// forgetStep removes the graph of a timestep that is gone: its deletion may be compacted away unread.
func forgetStep(l *logic, step wire.CommandStep) error {
	if !step.Gone {
		return nil
	}
	t := step.Timestep
	at, settled, err := revisions(l, t)
	if err != nil {
		return err
	}
	if at > step.Revision || settled > step.Revision || at == 0 && settled == 0 {
		return nil // it has come again, or is gone
	}
	members, err := membersOf(l.store, t)
	if err != nil {
		return err
	}
	return l.store.Apply(func(w swapstore.Writer) error {
		l.quality.due(w, t)
		w.Delete(timestepkey.New(graphPrefix, t))
		w.Delete(timestepkey.New(manifestPrefix, t))
		for _, n := range members {
			forgetNode(w, t, n)
		}
		return deleteShards(l.store, w, t)
	})
}

// isGone reports whether a command removes the message's timestep.
func isGone(l *logic, m wire.Received) bool {
	for _, e := range l.erasures.Open {
		if e.Command.Removes(m) && !m.Deleted {
			return true
		}
	}
	return false
}

// revisions are those of a timestep's graph and manifest, or 0.
func revisions(l *logic, t lethe.Timestep) (graph, settled lethe.Revision, err error) {
	known, err := readGraph(l.store, t)
	if err != nil {
		return 0, 0, err
	}
	if known != nil {
		graph = known.Revision
	}
	settled, _, err = readManifest(l.store, t)
	return graph, settled, err
}

// purge deletes everything stored for targets.
func purge(l *logic, targets []lethe.Digest) error {
	changed := make(changedCounts)
	err := l.store.Apply(func(w swapstore.Writer) error {
		for _, target := range targets {
			if err := forget(l, w, changed, nameOf(l.o.Secret, target)); err != nil {
				return err
			}
		}
		return changed.write(w)
	})
	if err != nil {
		return fmt.Errorf("delete what is erased: %w", err)
	}
	l.keep(changed)
	l.feed.notify(Predictions, Alerts, Timesteps)
	return nil
}

func forget(l *logic, w swapstore.Writer, changed changedCounts, n name) error {
	before, err := readPredictions(l.store, n)
	if err != nil {
		return err
	}
	if err := l.replacePrediction(w, changed, n, before[0], nil); err != nil {
		return err
	}
	in, found, err := readNode(l.store, n)
	if err != nil {
		return err
	}
	if found {
		l.quality.due(w, in.timestep)
		forgetNode(w, in.timestep, n)
	}
	w.Delete(keyOf(reasonsPrefix, n))
	return nil
}

// namesErased reports whether a value names something being erased.
func (l *logic) namesErased(value []byte) bool {
	for _, e := range l.erasures.Open {
		if s := e.Own.scanner; s != nil && (len(s.ScanBytes(value)) > 0 || len(s.MatchText(value)) > 0) {
			return true
		}
	}
	return false
}

// acknowledge does and acknowledges the next possible step of a command.
func (l *logic) acknowledge(ctx context.Context, e *erasure) (a deletions.Ack, err error) {
	c := e.Command
	switch {
	case c.Phase == wire.PhaseLift:
		if e.Owes(deletions.StepLifted) {
			a = l.erasures.Ack(e, deletions.StepLifted)
		}
		return a, nil
	case e.Owes(deletions.StepSuppressed):
		return l.erasures.Ack(e, deletions.StepSuppressed), nil
	case !c.Phase.Rewrites():
		return a, nil
	}
	if served, err := swapped(l, c); err != nil || !served {
		return a, err
	}
	if there, err := replaced(l, c); err != nil || !there {
		return a, err
	}
	switch {
	case e.Owes(deletions.StepErased):
		return l.searched(ctx, e, deletions.StepErased)
	case c.Phase == wire.PhaseSearch && e.Owes(deletions.StepScanned):
		if read, err := readAll(ctx, l, e); err != nil || !read {
			return a, err
		}
		return l.searched(ctx, e, deletions.StepScanned)
	}
	return a, nil
}

// replaced reports whether the replaced graphs and manifests have arrived.
func replaced(l *logic, c *wire.Command) (bool, error) {
	for _, step := range c.Steps {
		at, settled, err := revisions(l, step.Timestep)
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
func swapped(l *logic, c *wire.Command) (bool, error) {
	if c.Phase == wire.PhaseSearch {
		return true, nil
	}
	value, found, err := l.store.Get([]byte(statusPrefix + c.RequestID))
	if err != nil || !found {
		return false, err
	}
	status, err := deletions.DecodeStatus(value)
	return status.State.IsSwapped(), err
}

// readAll reports whether the topics were read to their ends at the command to search. Later records are clean.
func readAll(ctx context.Context, l *logic, e *erasure) (bool, error) {
	if e.Own.ends == nil || e.Own.asked < e.Command.Attempt {
		ends, err := bus.EndsOf(ctx, l.o.Bus, l.Topics()...)
		if err != nil {
			return false, err
		}
		e.Own.ends, e.Own.asked = ends, e.Command.Attempt
	}
	for tp, end := range e.Own.ends {
		if l.next[tp] < end {
			return false, nil
		}
	}
	return true, nil
}
