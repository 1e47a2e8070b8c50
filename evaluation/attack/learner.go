package attack

import (
	"context"

	"lethe/trainer/tabular"
	"lethe/trainer/trees"
)

// classifier returns the probability that a sample is of a member.
type classifier func(sample []float64) float64

// learner fits a classifier to samples.
type learner struct {
	name string
	fit  func(samples [][]float64, member []bool) (classifier, error)
}

// learners are the attack classifiers.
func learners() []learner {
	return []learner{{"logistic", fitLogistic}, {"trees", fitTrees}}
}

// treeOptions keep trees small: an attacker has a few hundred samples of a few
// entries.
func treeOptions() trees.Options {
	return trees.Options{Rounds: 40, MaxLeaves: 4, MinChildRows: 8}
}

// fitTrees fits gradient-boosted trees.
func fitTrees(samples [][]float64, member []bool) (classifier, error) {
	rows := tabular.Rows{Cols: len(samples[0])}
	for i, s := range samples {
		rows.Features = append(rows.Features, narrow(s)...)
		label := int32(0)
		if member[i] {
			label = 1
		}
		rows.Labels = append(rows.Labels, label)
	}
	model, _, err := trees.Fit(context.Background(), rows, treeOptions())
	if err != nil {
		return nil, err
	}
	return func(s []float64) float64 {
		p, err := model.Probabilities(narrow(s))
		if err != nil {
			panic(err) // samples of one attack have one length
		}
		return float64(p[1])
	}, nil
}

func narrow(values []float64) []float32 {
	out := make([]float32, len(values))
	for i, v := range values {
		out[i] = float32(v)
	}
	return out
}
