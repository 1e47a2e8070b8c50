package main

import (
	"context"
	"fmt"
	"slices"

	"lethe/internal/cputime"
	"lethe/scoring/quality"
	"lethe/trainer/trees"
)

// settings are what both sides fit by.
type settings struct {
	Seed         uint64  `json:"seed"`
	Rounds       int     `json:"rounds"`
	Leaves       int     `json:"leaves"`
	Rate         float64 `json:"rate"`
	FeatureShare float64 `json:"feature_share"`
	RowShare     float64 `json:"row_share"`
	Bins         int     `json:"bins"`
}

// explained is how many rows' contributions of features are asked for.
const explained = 100

// seconds are what one fit, its prediction and the contributions of some rows took. Ours
// cannot tell the bins from the rest.
type seconds struct {
	Bins    float64 `json:"bins"`
	Fit     float64 `json:"fit"`
	Predict float64 `json:"predict"`
	Explain float64 `json:"explain"`
}

// side is what the fits of one program came to.
type side struct {
	aucs, fits, predictions, explanations []float64
}

func (s *side) note(took seconds, scores []float64, positive []bool) {
	auc, _ := quality.AUC(scores, positive)
	s.aucs = append(s.aucs, auc)
	s.fits = append(s.fits, took.Bins+took.Fit)
	s.predictions = append(s.predictions, took.Predict)
	s.explanations = append(s.explanations, took.Explain)
}

// compare has both sides take turns and prints their table.
func compare(python string, p problem, s settings, seeds int) error {
	other, err := startLightGBM(python, p)
	if err != nil {
		return err
	}
	defer other.stop()
	positive := positives(p)
	var ours, theirs side
	var bins []float64
	leaves, nodes := 0, 0
	for seed := range seeds {
		s.Seed = uint64(seed + 1)
		took, scores, m, err := fit(p, s)
		if err != nil {
			return err
		}
		ours.note(took, scores, positive)
		leaves += m.Leaves()
		for t := range m.Trees() {
			nodes += len(t.Nodes)
		}
		if took, scores, err = other.fit(s); err != nil {
			return err
		}
		bins = append(bins, took.Bins)
		theirs.note(took, scores, positive)
	}
	fmt.Printf("\n%s: %d rows x %d features, %d rows are predicted; lethe's models have %d leaves and %d nodes\n",
		p.name, p.train.Len(), p.train.Cols, p.test.Len(), leaves/seeds, nodes/seeds)
	fmt.Printf("| | AUC | fit | predict | contributions of %d rows |\n|---|---|---|---|---|\n", explained)
	ours.print("lethe")
	theirs.print(other.version)
	ratio := func(a, b []float64) float64 { return median(a) / median(b) }
	fmt.Printf("| difference, ratio | %+.5f | %.2f | %.2f | %.2f |\n", mean(ours.aucs)-mean(theirs.aucs),
		ratio(ours.fits, theirs.fits), ratio(ours.predictions, theirs.predictions),
		ratio(ours.explanations, theirs.explanations))
	fmt.Printf("of LightGBM's fit, its bins are %.2f\n", median(bins))
	return nil
}

func (s *side) print(name string) {
	fmt.Printf("| %s | %.5f (%.5f to %.5f) | %.2f | %.3f | %.3f |\n", name, mean(s.aucs), slices.Min(s.aucs),
		slices.Max(s.aucs), median(s.fits), median(s.predictions), median(s.explanations))
}

// positives tells which test rows are of class 1.
func positives(p problem) []bool {
	positive := make([]bool, p.test.Len())
	for i, class := range p.test.Labels {
		positive[i] = class == 1
	}
	return positive
}

// fit is lethe's side with the settings of both: it fits, bins included, and asks for the test rows and what
// explains some.
func fit(p problem, s settings) (seconds, []float64, *trees.Model, error) {
	c := trees.Defaults()
	c.Seed, c.Rounds, c.MaxLeaves, c.LearningRate, c.MaxBins = s.Seed, s.Rounds, s.Leaves, s.Rate, s.Bins
	c.FeatureShare, c.RowShare = s.FeatureShare, s.RowShare
	start := cputime.Used()
	m, _, err := trees.Fit(context.Background(), p.train, c)
	if err != nil {
		return seconds{}, nil, nil, err
	}
	fitted := cputime.Used()
	probabilities, err := m.Probabilities(p.test.Features)
	if err != nil {
		return seconds{}, nil, nil, err
	}
	predicted := cputime.Used()
	for i := range min(explained, p.test.Len()) {
		if _, err := m.Explain(p.test.Row(i)); err != nil {
			return seconds{}, nil, nil, err
		}
	}
	took := seconds{
		Fit: (fitted - start).Seconds(), Predict: (predicted - fitted).Seconds(),
		Explain: (cputime.Used() - predicted).Seconds(),
	}
	scores := make([]float64, p.test.Len())
	for i := range scores {
		scores[i] = float64(probabilities[2*i+1])
	}
	return took, scores, m, nil
}
