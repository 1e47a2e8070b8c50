package score

import (
	"context"
	"fmt"
	"math"
	"time"

	"lethe"
	"lethe/ingest/bus"
	"lethe/internal/swapstore"
	"lethe/internal/timestepkey"
	"lethe/metrics/events"
	"lethe/pipeline/role"
	"lethe/pipeline/score/published"
)

// advance scores the next snapshot, or swaps to the ensemble it needs, if the input for that has arrived, and reports
// whether it did. Late transactions come first, because they are scored by the ensemble that was served when they
// arrived.
func (l *logic) advance(ctx context.Context, now func() time.Time) (role.Output, bool, error) {
	if t, found := l.state.links.nextLate(); found {
		out, err := l.scoreLate(ctx, t)
		return out, true, err
	}
	wanted := lethe.NoTimestep
	t, ready := l.state.links.nextWaiting()
	switch {
	case ready:
		var known bool
		if wanted, known = l.state.links.stepsBefore(t, 1+l.o.Scoring.LabelLagTimesteps); !known {
			break
		}
		if wanted == lethe.NoTimestep {
			return role.Output{}, true, l.finish(t, nil, nil)
		}
		switch s := l.state.models.served; {
		case s == nil || s.Through < wanted:
		case s.Through < t:
			// The ensemble is later only if the label lag was raised since the last run: it has seen no label of t.
			out, err := l.score(ctx, now, t)
			return out, true, err
		default:
			// It was the first timestep until another preceded it.
			out, err := l.scoreLate(ctx, t)
			return out, true, err
		}
	case t == lethe.NoTimestep:
		// No snapshot waits: serve the ensemble of the next one.
		wanted, _ = l.state.links.stepsBefore(l.state.links.lastSeen(), l.o.Scoring.LabelLagTimesteps)
	default:
		// A replaced graph is behind its successors in the topic. The ensemble that it needs must not be skipped.
	}
	swapped, err := l.serve(wanted)
	return role.Output{}, swapped, err
}

// serve swaps to the ensemble trained through a timestep, if it is later than the served one and complete. Otherwise a
// served ensemble that no longer matches the manifests is replaced by its own successor: the next ensemble may come
// much later, and an erasure waits. If its timestep is deleted, it is replaced by the ensemble before. A process that
// lost its folder serves the ensemble again that the journal names.
func (l *logic) serve(wanted lethe.Timestep) (bool, error) {
	var through []lethe.Timestep
	served := l.state.models.served
	if served == nil && !l.lastServed.Ensemble.IsZero() {
		through = append(through, l.lastServed.Through)
	}
	if wanted != lethe.NoTimestep && (served == nil || wanted > served.Through) {
		through = append(through, wanted)
	}
	switch {
	case served == nil:
	case l.state.revisions[served.Through] == 0:
		before := l.state.settledBefore(served.Through)
		if before == lethe.NoTimestep {
			return true, l.state.models.unserve()
		}
		through = append(through, before)
	case !l.state.fits() || l.state.renewed():
		through = append(through, served.Through)
	}
	for _, t := range through {
		swapped, err := l.state.adopt(t)
		if err != nil {
			return false, err
		}
		if swapped {
			l.o.Listener(events.EnsembleSwapped{Timestep: t, Version: l.state.models.served.Version})
			return true, nil
		}
	}
	return false, nil
}

// score scores every transaction of a timestep. After a crash before the predictions are stored, it makes the same
// predictions again; if the folder was lost too, those that are missing.
func (l *logic) score(ctx context.Context, now func() time.Time, t lethe.Timestep) (role.Output, error) {
	defer l.o.First.Begin()()
	started := now()
	snapshot, err := l.state.snapshot(t)
	if err != nil {
		return role.Output{}, err
	}
	answers, err := l.predictor.ask(ctx, l.state.models.served, snapshot)
	if err != nil {
		return role.Output{}, fmt.Errorf("score timestep %d: %w", t, err)
	}
	before := new(published.Step).With(l.state.recovered[t]).Only(snapshot)
	missing := func(p lethe.Pseudonym) bool { return !before.Holds(p) }
	records, out, alerts, err := l.predictions(ctx, snapshot, answers, false, missing)
	if err != nil {
		return role.Output{}, fmt.Errorf("score timestep %d: %w", t, err)
	}
	return role.Output{Topic: bus.Predictions, Records: records, Note: func() error {
		l.o.Listener(events.SnapshotScored{
			Timestep: t, Illicit: answers.illicit, IllicitCount: len(alerts), Duration: now().Sub(started),
		})
		for _, p := range out.Scores {
			l.o.Passed(events.ScoredFinally, t, p.Node, now().Sub(started))
		}
		return l.finish(t, out.With(before), alerts)
	}}, nil
}

// scoreLate scores the late transactions of a scored timestep. The served ensemble stays until that is stored, so that
// a crash changes nothing.
func (l *logic) scoreLate(ctx context.Context, t lethe.Timestep) (role.Output, error) {
	snapshot, err := l.state.snapshot(t)
	if err != nil {
		return role.Output{}, err
	}
	before, err := l.state.published(t)
	if err != nil {
		return role.Output{}, err
	}
	if before == nil {
		before = &published.Step{Threshold: math.NaN()}
	}
	before = before.With(l.state.recovered[t]).Only(snapshot)
	answers, err := l.predictor.ask(ctx, l.state.models.served, snapshot)
	if err != nil {
		return role.Output{}, fmt.Errorf("score late transactions of timestep %d: %w", t, err)
	}
	missing := func(p lethe.Pseudonym) bool { return !before.Holds(p) }
	records, late, alerts, err := l.predictions(ctx, snapshot, answers, true, missing)
	if err != nil {
		return role.Output{}, fmt.Errorf("score late transactions of timestep %d: %w", t, err)
	}
	return role.Output{Topic: bus.Predictions, Records: records, Note: func() error {
		return l.finish(t, before.With(&published.Step{Late: late.Nodes()}), alerts)
	}}, nil
}

// finish marks a snapshot as done, except for reasons of its alerts. out is nil for a snapshot without an ensemble
// before it, which stays unscored.
func (l *logic) finish(t lethe.Timestep, out *published.Step, alerts []published.Score) error {
	done := l.state.links[t]
	done.done, done.late = true, false
	reasons, err := readExplained(l.state.store, t)
	if err != nil {
		return err
	}
	var pinned func(w swapstore.Writer)
	if l.o.reasons() > 0 && len(alerts) > 0 {
		reasons = reasons.with(alerts)
		if done.owed = max(done.owed, owesNew); done.owed == owesNew {
			pinned = l.explaining.pinServed(t)
		}
	}
	err = l.state.store.Apply(func(w swapstore.Writer) error {
		if pinned != nil {
			pinned(w)
		}
		if out != nil {
			w.Set(timestepkey.New(publishedPrefix, t), out.Encode())
		}
		reasons.write(w, t)
		done.settle(w, t)
		return nil
	})
	if err != nil {
		return fmt.Errorf("note that timestep %d was scored: %w", t, err)
	}
	l.state.links[t] = done
	l.explaining.owes(t, reasons.owed())
	l.explaining.overtake(t)
	return l.measure(t)
}

// settle stores the state of a graph, and deletes the graph if it is no longer needed.
func (k link) settle(w swapstore.Writer, t lethe.Timestep) {
	if k.done && !k.late && k.owed == owesNothing {
		w.Delete(timestepkey.New(snapshotPrefix, t))
	}
	w.Set(timestepkey.New(linkPrefix, t), k.encode())
}
