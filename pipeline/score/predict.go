package score

import (
	"context"
	"fmt"

	"lethe"
	"lethe/ingest"
	"lethe/scoring"
	"lethe/scoring/ensemble"
	"lethe/trainer"
)

// predict asks the served ensemble for the probability of illicit of every node.
func (l *logic) predict(ctx context.Context, s *lethe.Snapshot) ([]float64, error) {
	graph := trainer.InputOf(l.o.OneHop.Join(s))
	answers, err := l.runner.Ask(ctx, l.state.served.Models, graph)
	if err != nil {
		return nil, err
	}
	combined, err := answers.Combine(l.aggregation)
	if err != nil {
		return nil, err
	}
	return ensemble.Illicit(combined), nil
}

// predictions builds one record per transaction that is not suppressed and of which
// wanted says so, and lists them. The third result counts those of class illicit.
func (l *logic) predictions(
	s *lethe.Snapshot, probabilities []float64, late bool, wanted func(lethe.Pseudonym) bool,
) ([]ingest.Outgoing, *published, int, error) {
	records := make([]ingest.Outgoing, 0, len(s.Nodes))
	out, illicit := &published{}, 0
	graph := scoring.GraphDigest(s)
	for i, n := range s.Nodes {
		if l.state.suppressed[l.o.Secret.Suppression(n.ID)] || !wanted(n.Pseudonym) {
			continue
		}
		p := scoring.Prediction{
			Transaction:     n.ID,
			Timestep:        s.Timestep,
			Probability:     probabilities[i],
			Threshold:       l.o.Scoring.Threshold,
			EnsembleVersion: l.state.served.Version,
			TrainedThrough:  l.state.served.Through,
			Aggregation:     l.aggregation.Name(),
			Late:            late,
		}
		p.Class = scoring.Classify(p.Probability, p.Threshold)
		p.ID = scoring.PredictionID(l.o.Secret, &p, graph)
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
