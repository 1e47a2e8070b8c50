package score

import (
	"context"
	"fmt"

	"lethe"
	"lethe/ingest"
	"lethe/partition/onehop"
	"lethe/pipeline/score/published"
	"lethe/scoring"
	"lethe/scoring/decision"
	"lethe/scoring/ensemble"
	"lethe/trainer"
)

// answer is the result of an ensemble for a graph.
type answer struct {
	// illicit are the probabilities of illicit, by node.
	illicit []float64
	// threshold is the smallest probability of class illicit.
	threshold float64
}

// predictor makes predictions by ensembles.
type predictor struct {
	runner ensemble.Runner
	layout ensemble.Layout
	oneHop onehop.Mode
	rule   decision.Rule
	// method is the name of the combination.
	method string
}

// newPredictor returns the predictor of a role.
func newPredictor(o Options) (p predictor, err error) {
	p = predictor{layout: o.Layout, oneHop: o.OneHop, method: o.Scoring.Aggregation}
	if p.runner, err = ensemble.NewRunner(o.Layout, o.Kernels, o.Workers); err != nil {
		return p, err
	}
	p.rule, err = o.Scoring.Rule()
	return p, err
}

// ask returns the answer of an ensemble for every node of a graph.
func (p predictor) ask(ctx context.Context, e *ensemble.Ensemble, s *lethe.Snapshot) (answer, error) {
	return p.askJoined(ctx, e, p.oneHop.Join(s))
}

// askJoined is ask with rows that have their one-hop features.
func (p predictor) askJoined(ctx context.Context, e *ensemble.Ensemble, s *lethe.Snapshot) (answer, error) {
	answers, err := p.runner.Ask(ctx, e.Models, trainer.InputOf(s))
	if err != nil {
		return answer{}, err
	}
	if over := e.Meta; over != nil {
		illicit := over.Probabilities(answers.Logits(p.layout))
		return answer{illicit, over.ThresholdFor(p.rule, illicit)}, nil
	}
	illicit := ensemble.Illicit(scoring.Mean(answers.Shards))
	return answer{illicit, decision.Choose(p.rule, illicit, nil)}, nil
}

// prediction returns the common fields of predictions by an ensemble.
func (p predictor) prediction(by *ensemble.Ensemble) scoring.Prediction {
	return scoring.Prediction{EnsembleVersion: by.Version, TrainedThrough: by.Through, Aggregation: p.method}
}

// recordsOf completes predictions with classes and ids and returns their records in order; thousands of them are made
// concurrently. graph is the digest of the graph.
func (p predictor) recordsOf(
	ctx context.Context, all []scoring.Prediction, secret lethe.Secret, graph lethe.Digest,
) ([]ingest.Outgoing, error) {
	const atOnce = 2048
	records := make([]ingest.Outgoing, len(all))
	err := p.runner.Each(ctx, (len(all)+atOnce-1)/atOnce, func(ctx context.Context, part int) error {
		ids := scoring.NewPredictionIDs(secret)
		for i := part * atOnce; i < min((part+1)*atOnce, len(all)); i++ {
			each := &all[i]
			each.Class = scoring.Classify(each.Probability, each.Threshold)
			each.ID = ids.Of(each, graph)
			value, err := scoring.EncodePrediction(each)
			if err != nil {
				return fmt.Errorf("prediction %d: %w", i, err)
			}
			records[i] = ingest.Outgoing{Key: ingest.TransactionKey(each.Transaction), Value: value}
		}
		return ctx.Err()
	})
	return records, err
}

// predictions returns a record for each wanted transaction that is not suppressed, and lists them. The third result
// are those of class illicit.
func (l *logic) predictions(
	ctx context.Context, s *lethe.Snapshot, a answer, late bool, wanted func(lethe.Pseudonym) bool,
) ([]ingest.Outgoing, *published.Step, []published.Score, error) {
	all := make([]scoring.Prediction, 0, len(s.Nodes))
	out, illicit := &published.Step{Threshold: a.threshold}, []published.Score(nil)
	hides := l.state.hidden.hides(l.o.Secret)
	for i, n := range s.Nodes {
		if !wanted(n.Pseudonym) || hides(n.ID) {
			continue
		}
		p := l.predictor.prediction(l.state.models.served)
		p.Transaction, p.Timestep, p.Late, p.Final = n.ID, s.Timestep, late, true
		p.Probability, p.Threshold = a.illicit[i], a.threshold
		all = append(all, p)
		made := published.Score{Node: n.Pseudonym, Probability: p.Probability}
		if scoring.Classify(p.Probability, p.Threshold) == lethe.Illicit.String() {
			illicit = append(illicit, made)
		}
		out.Scores = append(out.Scores, made)
	}
	records, err := l.predictor.recordsOf(ctx, all, l.o.Secret, scoring.GraphDigest(s))
	return records, out, illicit, err
}
