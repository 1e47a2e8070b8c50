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
	"lethe/scoring"
	"lethe/scoring/decision"
	"lethe/scoring/ensemble"
)

// passRows bounds the transactions of a pass, including neighbours: those that arrive meanwhile wait for the next pass.
const passRows = 64

// restFactor is the pause after a pass of transactions that had a score, as a multiple of its duration.
const restFactor = 3

// scoreAll scores waiting transactions, pass by pass, until the context ends. Second scores take a quarter of the time
// at most, so that new transactions find the processors free.
func (a *arrivals) scoreAll(ctx context.Context) error {
	rest := time.NewTimer(0)
	defer rest.Stop()
	rested := false
	for {
		began := a.around.Clock()
		pass, err := a.scoreSome(ctx, rested)
		switch {
		case err != nil:
			return err
		case pass != nil && !pass.Again:
			continue
		case pass != nil:
			rested = false
			rest.Reset(restFactor * a.around.Clock().Sub(began))
		}
		select {
		case <-a.wake:
		case <-rest.C:
			rested = true
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// scoreSome scores one pass and returns it; nil if no transaction waited. Transactions with a score wait unless again
// is set.
func (a *arrivals) scoreSome(ctx context.Context, again bool) (*window.Pass, error) {
	by, pass := a.next(again)
	if pass == nil {
		return nil, nil //nolint:nilnil // nothing waited
	}
	began := a.around.Clock()
	scores, err := a.predictor.askJoined(ctx, by, graphOf(pass, a.predictor.oneHop))
	if err != nil {
		return nil, fmt.Errorf("timestep %d: %w", pass.Graph.Timestep, err)
	}
	probabilities := make([]float64, len(pass.Scored))
	for i, node := range pass.Scored {
		probabilities[i] = scores.illicit[node]
	}
	// The lock is held until they are written: closing and suppressing come either before, and drop them, or after.
	a.mu.Lock()
	defer a.mu.Unlock()
	scored := a.window.Score(pass, probabilities)
	if a.predictor.rule.PerTimestep() {
		scores.threshold = decision.Choose(a.predictor.rule, a.window.Probabilities(pass.Graph.Timestep), nil)
	}
	records, err := a.records(ctx, by, pass.Graph.Timestep, scored, scores.threshold)
	if err != nil {
		return nil, fmt.Errorf("timestep %d: %w", pass.Graph.Timestep, err)
	}
	if err := a.around.Bus.Write(ctx, bus.Predictions, records); err != nil {
		return nil, fmt.Errorf("timestep %d: publish to %s: %w", pass.Graph.Timestep, bus.Predictions, err)
	}
	a.observe(pass.Graph.Timestep, scored, began)
	return pass, nil
}

// next returns the next pass and the ensemble that scores it, if there are both.
func (a *arrivals) next(again bool) (*ensemble.Ensemble, *window.Pass) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.served == nil {
		return nil, nil
	}
	return a.served, a.window.Next(passRows, again)
}

// graphOf returns the graph of a pass, with rows like those of a closed timestep.
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
	ctx context.Context, by *ensemble.Ensemble, t lethe.Timestep, scored []window.Scored, threshold float64,
) ([]ingest.Outgoing, error) {
	all := make([]scoring.Prediction, 0, len(scored))
	for _, s := range scored {
		p := a.predictor.prediction(by)
		p.Transaction, p.Timestep, p.Probability, p.Threshold = s.ID, t, s.Probability, threshold
		all = append(all, p)
	}
	return a.predictor.recordsOf(ctx, all, a.secret, lethe.Digest{})
}

// observe reports how long the scored records waited.
func (a *arrivals) observe(t lethe.Timestep, scored []window.Scored, began time.Time) {
	now := a.around.Clock()
	e := events.ProvisionallyScored{Predictions: len(scored), Duration: now.Sub(began)}
	for _, s := range scored {
		if !s.Since.IsZero() {
			e.Delays = append(e.Delays, now.Sub(s.Since))
		}
		a.around.Passed(events.ScoredProvisionally, t, s.Pseudonym, e.Duration)
	}
	a.around.Listener(e)
}
