package attack

import (
	"context"
	"encoding/binary"
	"fmt"

	"gonum.org/v1/gonum/stat"

	"lethe"
	"lethe/lab/networks"
	"lethe/scoring/ensemble"
	"lethe/trainer"
	"lethe/trainer/kernels"
)

// learner is an attack classifier: a model of the trainer that learns to tell
// members from outsiders as a shard's model learns to tell illicit transactions
// from licit ones, without edges.
type learner struct {
	name   string
	engine *trainer.Engine
}

// learners are the attack classifiers. Boosted trees stand for the decision tree
// and the random forest of Chen et al. 2021. The perceptron has the width, step
// size and decay of the authors' program, where scikit-learn's defaults are; all
// samples make one batch here, and none are kept back to end training early.
func learners(seed uint64, set kernels.Set) ([]learner, error) {
	out := []learner{{name: "logistic"}, {name: "trees"}, {name: "mlp"}}
	// Weakly penalised, for what an erasure leaves is small.
	linear := trainer.DefaultsOf(trainer.Logistic)
	linear.Logistic.L2 = .3
	// Small trees: an attacker has a few hundred samples of a few entries.
	forest := trainer.DefaultsOf(trainer.Trees)
	forest.Trees.Rounds, forest.Trees.MaxLeaves, forest.Trees.MinChildRows, forest.Trees.FeatureShare = 40, 4, 8, 1
	perceptron := networks.Defaults(networks.MLP)
	perceptron.Hidden, perceptron.LearningRate, perceptron.WeightDecay = 100, .01, 1e-4
	perceptron.Passes, perceptron.Schedule = 200, trainer.Window
	for i, c := range []trainer.Config{linear, forest, perceptron} {
		c.Seed = seed
		var err error
		if out[i].engine, err = trainer.NewEngine(c, set); err != nil {
			return nil, fmt.Errorf("attack classifier %s: %w", out[i].name, err)
		}
	}
	return out, nil
}

// judge learns from samples of which it is known whether they are members, and
// returns the probability that others are.
func (l learner) judge(known [][]float64, member []bool, asked [][]float64) ([]float64, error) {
	ctx := context.Background() // either step takes a moment
	scale := newScaler(known)
	model, _, err := l.engine.Train(ctx, 0, nil, []*lethe.Slice{samplesSlice(scale.apply(known), member)})
	if err != nil {
		return nil, fmt.Errorf("attack classifier %s: %w", l.name, err)
	}
	in := trainer.Input{Rows: len(asked), Cols: len(asked[0]), Features: scale.apply(asked)}
	p, err := l.engine.Probabilities(ctx, model, in)
	if err != nil {
		return nil, fmt.Errorf("attack classifier %s: %w", l.name, err)
	}
	return ensemble.Illicit(p), nil
}

// samplesSlice is a slice without edges that holds samples. Members are illicit,
// the class whose probability an engine predicts.
func samplesSlice(features []float32, member []bool) *lethe.Slice {
	n := len(member)
	s := &lethe.Slice{
		Previous: lethe.NoTimestep, FeatureCount: len(features) / n, Features: features,
		Nodes: make([]lethe.Pseudonym, n), Labels: make([]lethe.Label, n),
	}
	for i := range s.Nodes {
		binary.BigEndian.PutUint64(s.Nodes[i][:], uint64(i))
		s.Labels[i] = lethe.Licit
		if member[i] {
			s.Labels[i] = lethe.Illicit
		}
	}
	return s
}

// scaler standardises every entry by the samples it was made from.
type scaler struct{ mean, deviation []float64 }

func newScaler(samples [][]float64) scaler {
	var s scaler
	column := make([]float64, len(samples))
	for j := range samples[0] {
		for i := range samples {
			column[i] = samples[i][j]
		}
		mean, deviation := stat.PopMeanStdDev(column, nil)
		if deviation == 0 {
			deviation = 1
		}
		s.mean, s.deviation = append(s.mean, mean), append(s.deviation, deviation)
	}
	return s
}

// apply lays samples out row by row. It works in double precision: posteriors
// near 1 are closer to each other than single precision tells.
func (s scaler) apply(samples [][]float64) []float32 {
	out := make([]float32, 0, len(samples)*len(s.mean))
	for _, sample := range samples {
		for j, v := range sample {
			out = append(out, float32((v-s.mean[j])/s.deviation[j]))
		}
	}
	return out
}
