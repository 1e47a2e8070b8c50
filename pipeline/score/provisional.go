package score

import (
	"context"
	"fmt"
	"time"

	"lethe"
	"lethe/ingest"
	"lethe/ingest/bus"
	"lethe/metrics/events"
	"lethe/partition/onehop"
	"lethe/pipeline/score/window"
	"lethe/scoring/decision"
	"lethe/scoring/ensemble"
)

// passRows bounds the transactions of a pass, their neighbours among them: what arrives
// meanwhile waits for the next one.
const passRows = 96

// scoreAll scores what waits, pass by pass, until the context ends.
func (a *arrivals) scoreAll(ctx context.Context) error {
	for {
		scored, err := a.scoreSome(ctx)
		if err != nil {
			return err
		}
		if scored {
			continue
		}
		select {
		case <-a.wake:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// scoreSome scores one pass, and reports whether anything waited.
func (a *arrivals) scoreSome(ctx context.Context) (bool, error) {
	by, pass := a.next()
	if pass == nil {
		return false, nil
	}
	began := a.around.Clock()
	said, err := a.predictor.askJoined(ctx, by, graphOf(pass, a.predictor.oneHop))
	if err != nil {
		return false, fmt.Errorf("timestep %d: %w", pass.Graph.Timestep, err)
	}
	probabilities := make([]float64, len(pass.Scored))
	for i, node := range pass.Scored {
		probabilities[i] = said.illicit[node]
	}
	// The lock is held until they are written: what closes or is suppressed from then
	// on finds them written, and what was before finds them dropped.
	a.mu.Lock()
	defer a.mu.Unlock()
	scored := a.window.Score(pass, probabilities)
	if a.predictor.rule.PerTimestep() {
		said.threshold = decision.Choose(a.predictor.rule, a.window.Probabilities(pass.Graph.Timestep), nil)
	}
	records, err := a.records(by, pass.Graph.Timestep, scored, said.threshold)
	if err != nil {
		return false, fmt.Errorf("timestep %d: %w", pass.Graph.Timestep, err)
	}
	if err := a.around.Bus.Write(ctx, bus.Predictions, records); err != nil {
		return false, fmt.Errorf("timestep %d: publish to %s: %w", pass.Graph.Timestep, bus.Predictions, err)
	}
	a.tell(scored, began)
	return true, nil
}

// next takes the next pass, if there is one and an ensemble to score it by.
func (a *arrivals) next() (*ensemble.Ensemble, *window.Pass) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.served == nil {
		return nil, nil
	}
	return a.served, a.window.Next(passRows)
}

// graphOf returns what the models see of a pass: rows as those of a closed timestep are
// made.
func graphOf(pass *window.Pass, mode onehop.Mode) *lethe.Snapshot {
	whole := pass.Graph
	out := &lethe.Snapshot{Timestep: whole.Timestep, FeatureCount: mode.Features(whole.FeatureCount)}
	rows, position := mode.Rows(whole), make(map[uint32]uint32, len(pass.Among))
	for i, node := range pass.Among {
		position[uint32(node)] = uint32(i)
		out.Nodes = append(out.Nodes, whole.Nodes[node])
		out.Features = rows.Append(out.Features, node)
	}
	for _, p := range whole.Payments {
		source, isSource := position[p.Source]
		target, isTarget := position[p.Target]
		if isSource && isTarget {
			out.Payments = append(out.Payments, lethe.Arc{Source: source, Target: target})
		}
	}
	return out
}

// records makes the provisional predictions.
func (a *arrivals) records(
	by *ensemble.Ensemble, t lethe.Timestep, scored []window.Scored, threshold float64,
) ([]ingest.Outgoing, error) {
	records := make([]ingest.Outgoing, 0, len(scored))
	for _, s := range scored {
		p := a.predictor.prediction(by)
		p.Transaction, p.Timestep, p.Probability, p.Threshold = s.ID, t, s.Probability, threshold
		record, err := recordOf(&p, a.secret, lethe.Digest{})
		if err != nil {
			return nil, err
		}
		records = append(records, record)
	}
	return records, nil
}

// tell tells how long the records waited that the scores are for.
func (a *arrivals) tell(scored []window.Scored, began time.Time) {
	now := a.around.Clock()
	e := events.ProvisionallyScored{Predictions: len(scored), Duration: now.Sub(began)}
	for _, s := range scored {
		if !s.Since.IsZero() {
			e.Delays = append(e.Delays, now.Sub(s.Since))
		}
	}
	a.around.Listener.ProvisionallyScored(e)
}
