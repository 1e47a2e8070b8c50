package score

import (
	"context"
	"fmt"
	"time"

	"lethe"
	"lethe/ingest"
	"lethe/ingest/bus"
	"lethe/internal/swapstore"
	"lethe/metrics/events"
	"lethe/scoring"
	"lethe/scoring/ensemble"
	"lethe/trainer"
)

// advance scores and swaps as far as what has arrived allows.
func (r *Role) advance(ctx context.Context) error {
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		progressed, err := r.advanceOnce(ctx)
		if err != nil || !progressed {
			return err
		}
	}
}

// advanceOnce scores the next snapshot, or swaps to the ensemble it needs.
func (r *Role) advanceOnce(ctx context.Context) (bool, error) {
	wanted := lethe.NoTimestep
	t, ready := r.nextWaiting()
	switch {
	case ready:
		if wanted = r.stepsBefore(t, 1+r.o.LabelLag); wanted == lethe.NoTimestep {
			return true, r.finish(t, nil)
		}
		// The ensemble is a later one only if the label lag was raised since
		// the last run: it has still seen no label of t.
		if s := r.state.served; s != nil && s.Through >= wanted && s.Through < t {
			return true, r.score(ctx, t)
		}
	case t == lethe.NoTimestep:
		// Nothing waits: serve what the next snapshot will need.
		wanted = r.stepsBefore(r.lastSeen(), r.o.LabelLag)
	default:
		// A graph that was replaced stands behind its successors in the topic.
		// The ensemble that it needs must not be passed over.
	}
	return r.serve(wanted)
}

// serve swaps to the ensemble trained through a timestep, if it is later than
// the served one and complete. If it is not, and the served one is not what it
// should be any more, it is replaced by its own successor: the next ensemble
// may be long in coming, while an erasure waits.
func (r *Role) serve(wanted lethe.Timestep) (bool, error) {
	var through []lethe.Timestep
	served := r.state.served
	if wanted != lethe.NoTimestep && (served == nil || wanted > served.Through) {
		through = append(through, wanted)
	}
	if !r.state.fits() || r.state.renewed() {
		through = append(through, served.Through)
	}
	for _, t := range through {
		swapped, err := r.state.adopt(t)
		if err != nil {
			return false, err
		}
		if swapped {
			r.o.Listener.EnsembleSwapped(events.EnsembleSwapped{Timestep: t, Version: r.state.served.Version})
			r.publishStatus()
			return true, nil
		}
	}
	return false, nil
}

// nextWaiting returns the oldest snapshot that is not scored, or NoTimestep,
// and whether its turn has come: the one before it is known and done.
func (r *Role) nextWaiting() (t lethe.Timestep, ready bool) {
	for _, t := range r.state.known() {
		l := r.state.links[t]
		if l.done {
			continue
		}
		before, known := r.state.links[l.previous]
		return t, l.previous == lethe.NoTimestep || known && before.done
	}
	return lethe.NoTimestep, false
}

func (r *Role) lastSeen() lethe.Timestep {
	known := r.state.known()
	if len(known) == 0 {
		return lethe.NoTimestep
	}
	return known[len(known)-1]
}

// stepsBefore walks back n snapshots from t.
func (r *Role) stepsBefore(t lethe.Timestep, n int) lethe.Timestep {
	for range n {
		if t == lethe.NoTimestep {
			break
		}
		t = r.state.links[t].previous
	}
	return t
}

// score gives every transaction of the timestep a probability, publishes the
// predictions and notes that it did. Killed in between, it does the same again:
// the predictions have the same ids and the same content.
func (r *Role) score(ctx context.Context, t lethe.Timestep) error {
	started := time.Now()
	snapshot, err := r.state.snapshot(t)
	if err != nil {
		return err
	}
	illicit, err := r.predict(ctx, snapshot)
	if err != nil {
		return fmt.Errorf("score timestep %d: %w", t, err)
	}
	records, out, count, err := r.predictions(snapshot, illicit)
	if err != nil {
		return fmt.Errorf("score timestep %d: %w", t, err)
	}
	if err := r.o.Client.Write(ctx, bus.Predictions, records); err != nil {
		return fmt.Errorf("publish predictions of timestep %d: %w", t, err)
	}
	r.o.Listener.SnapshotScored(events.SnapshotScored{
		Timestep: t, Illicit: illicit, IllicitCount: count, Duration: time.Since(started),
	})
	return r.finish(t, out)
}

// finish marks a snapshot as dealt with. out is nil for a snapshot that has no
// ensemble before it and stays unscored.
func (r *Role) finish(t lethe.Timestep, out *given) error {
	l := r.state.links[t]
	l.done = true
	err := r.state.store.Apply(func(w swapstore.Writer) error {
		if out != nil {
			if err := w.Set(timestepKey(givenPrefix, t), out.encode()); err != nil {
				return err
			}
		}
		if err := w.Delete(timestepKey(snapshotPrefix, t)); err != nil {
			return err
		}
		return w.Set(timestepKey(linkPrefix, t), l.encode())
	})
	if err != nil {
		return fmt.Errorf("note that timestep %d was scored: %w", t, err)
	}
	r.state.links[t] = l
	return r.measure(t)
}

// predict asks the served ensemble for the probability of illicit of every node.
func (r *Role) predict(ctx context.Context, s *lethe.Snapshot) ([]float64, error) {
	graph := trainer.InputOf(s.WithOneHop(r.o.OneHop, r.o.OneHopDirected))
	answers, err := r.runner.Ask(ctx, r.state.served.Models, graph)
	if err != nil {
		return nil, err
	}
	combined, err := answers.Combine(r.aggregation)
	if err != nil {
		return nil, err
	}
	return ensemble.Illicit(combined), nil
}

// predictions builds one record per transaction that is not suppressed, and
// what is kept of them to be measured.
func (r *Role) predictions(s *lethe.Snapshot, probabilities []float64) ([]ingest.Outgoing, *given, int, error) {
	records := make([]ingest.Outgoing, 0, len(s.Nodes))
	out, illicit := &given{}, 0
	graph := scoring.GraphDigest(s)
	for i, n := range s.Nodes {
		if r.state.suppressed[r.o.Secret.Suppression(n.ID)] {
			continue
		}
		p := scoring.Prediction{
			Transaction:     n.ID,
			Timestep:        s.Timestep,
			Probability:     probabilities[i],
			Threshold:       r.o.Threshold,
			EnsembleVersion: r.state.served.Version,
			TrainedThrough:  r.state.served.Through,
			Aggregation:     r.aggregation.Name(),
		}
		p.Class = scoring.Classify(p.Probability, p.Threshold)
		p.ID = scoring.PredictionID(r.o.Secret, &p, graph)
		value, err := scoring.EncodePrediction(&p)
		if err != nil {
			return nil, nil, 0, fmt.Errorf("node %d: %w", i, err)
		}
		if p.Class == lethe.Illicit.String() {
			illicit++
		}
		records = append(records, ingest.Outgoing{Key: ingest.TransactionKey(n.ID), Value: value})
		out.nodes = append(out.nodes, n.Pseudonym)
		out.probabilities = append(out.probabilities, p.Probability)
	}
	return records, out, illicit, nil
}
