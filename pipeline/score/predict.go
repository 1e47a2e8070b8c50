package score

import (
	"context"
	"fmt"

	"lethe"
	"lethe/ingest"
	"lethe/partition/onehop"
	"lethe/scoring"
	"lethe/scoring/decision"
	"lethe/scoring/ensemble"
	"lethe/trainer"
)

// answer is what the served ensemble says of a graph.
type answer struct {
	// illicit is the probability of illicit of every node.
	illicit []float64
	// threshold is the probability from which a transaction is called illicit.
	threshold float64
}

// predictor asks ensembles.
type predictor struct {
	runner ensemble.Runner
	layout ensemble.Layout
	oneHop onehop.Mode
	// aggregation is nil where a meta-model puts the models together.
	aggregation scoring.Aggregation
	rule        decision.Rule
}

// newPredictor returns the predictor of a role.
func newPredictor(o Options) (p predictor, err error) {
	p = predictor{layout: o.Layout, oneHop: o.OneHop}
	if p.runner, err = ensemble.NewRunner(o.Layout, o.Kernels, o.Workers); err != nil {
		return p, err
	}
	if p.rule, err = o.Scoring.Rule(); err != nil {
		return p, err
	}
	if o.Meta == nil {
		p.aggregation, err = scoring.NewAggregation(o.Scoring.Aggregation, o.Scoring.Temperature)
	}
	return p, err
}

// ask asks an ensemble about every node of a graph.
func (p predictor) ask(ctx context.Context, e *ensemble.Ensemble, s *lethe.Snapshot) (answer, error) {
	graph := trainer.InputOf(p.oneHop.Join(s))
	said, err := p.runner.Ask(ctx, e.Models, graph)
	if err != nil {
		return answer{}, err
	}
	if over := e.Meta; over != nil {
		illicit := over.Probabilities(said.Logits(p.layout))
		return answer{illicit, over.ThresholdFor(p.rule, illicit)}, nil
	}
	combined, err := said.Combine(p.aggregation)
	if err != nil {
		return answer{}, err
	}
	illicit := ensemble.Illicit(combined)
	return answer{illicit, decision.Choose(p.rule, illicit, nil)}, nil
}

// name is what predictions call the way that models are put together.
func (p predictor) name() string {
	if p.aggregation == nil {
		return scoring.MethodStack
	}
	return p.aggregation.Name()
}

// predictions builds one record per transaction that is not suppressed and of which
// wanted says so, and lists them. The third result are those of class illicit.
func (l *logic) predictions(
	s *lethe.Snapshot, a answer, late bool, wanted func(lethe.Pseudonym) bool,
) ([]ingest.Outgoing, *published, []likely, error) {
	records := make([]ingest.Outgoing, 0, len(s.Nodes))
	out, illicit := &published{threshold: a.threshold}, []likely(nil)
	graph := scoring.GraphDigest(s)
	for i, n := range s.Nodes {
		if l.state.hides(l.o.Secret, n.ID) || !wanted(n.Pseudonym) {
			continue
		}
		p := scoring.Prediction{
			Transaction:     n.ID,
			Timestep:        s.Timestep,
			Probability:     a.illicit[i],
			Threshold:       a.threshold,
			EnsembleVersion: l.state.served.Version,
			TrainedThrough:  l.state.served.Through,
			Aggregation:     l.predictor.name(),
			Late:            late,
		}
		p.Class = scoring.Classify(p.Probability, p.Threshold)
		p.ID = scoring.PredictionID(l.o.Secret, &p, graph)
		value, err := scoring.EncodePrediction(&p)
		if err != nil {
			return nil, nil, nil, fmt.Errorf("node %d: %w", i, err)
		}
		if p.Class == lethe.Illicit.String() {
			illicit = append(illicit, likely{n.Pseudonym, p.Probability})
		}
		records = append(records, ingest.Outgoing{Key: ingest.TransactionKey(n.ID), Value: value})
		out.nodes = append(out.nodes, n.Pseudonym)
		out.probabilities = append(out.probabilities, p.Probability)
	}
	return records, out, illicit, nil
}
