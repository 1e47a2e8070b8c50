package dataset_test

import (
	"cmp"
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"lethe"
	"lethe/dataset"
)

// example is a labelled transaction. target is 1 for illicit.
type example struct {
	features []float32
	target   float64
}

func labelled(s *dataset.Stream) []example {
	var out []example
	for _, step := range s.Steps {
		labels := make(map[lethe.TransactionID]lethe.Label)
		for _, l := range step.Labels {
			labels[l.ID] = l.Label
		}
		for _, tx := range step.Transactions {
			if l := labels[tx.ID]; l != lethe.Unknown {
				out = append(out, example{tx.Features, float64(l - lethe.Licit)})
			}
		}
	}
	return out
}

// logistic fits weights and a bias by full-batch gradient descent with an L2
// penalty and both classes weighing the same.
func logistic(train []example) []float64 {
	width := len(train[0].features)
	w := make([]float64, width+1)
	illicit := 0.0
	for _, e := range train {
		illicit += e.target
	}
	weight := [2]float64{.5 / (float64(len(train)) - illicit), .5 / illicit}
	for range 150 {
		gradient := make([]float64, width+1)
		for _, e := range train {
			g := weight[int(e.target)] * (1/(1+math.Exp(-score(w, e.features))) - e.target)
			for j, v := range e.features {
				gradient[j] += g * float64(v)
			}
			gradient[width] += g
		}
		for j := range w {
			w[j] -= .3 * (gradient[j] + .1*w[j])
		}
	}
	return w
}

func score(w []float64, features []float32) float64 {
	z := w[len(features)]
	for j, v := range features {
		z += w[j] * float64(v)
	}
	return z
}

// auc is the chance that an illicit example scores above a licit one.
func auc(w []float64, test []example) float64 {
	slices.SortFunc(test, func(a, b example) int { return cmp.Compare(score(w, a.features), score(w, b.features)) })
	below, pairs, illicit := 0.0, 0.0, 0.0
	for _, e := range test {
		if e.target == 0 {
			below++
			continue
		}
		illicit++
		pairs += below
	}
	return pairs / (below * illicit)
}

// A linear model trained on the past has to find laundering, but not all of it,
// and the drift has to cost it something.
func TestFeaturesAreInformativeButNoisy(t *testing.T) {
	if testing.Short() {
		t.Skip("trains models")
	}
	const seeds = 4
	drop := 0.0
	for seed := range uint64(seeds) {
		options := dataset.GenerateDefaults()
		options.Seed = seed
		s, err := dataset.Generate(options)
		require.NoError(t, err)
		past, err := s.Slice(1, 9)
		require.NoError(t, err)
		before, err := s.Slice(10, 12)
		require.NoError(t, err)
		after, err := s.Slice(13, 20)
		require.NoError(t, err)
		w := logistic(labelled(past))
		seen, near, far := auc(w, labelled(past)), auc(w, labelled(before)), auc(w, labelled(after))
		t.Logf("seed %d: AUC %.3f on the past, %.3f before the drift, %.3f after it", seed, seen, near, far)
		require.Greater(t, near, .85, "laundering cannot be learnt")
		require.Less(t, near, .995, "laundering is given away")
		require.Greater(t, far, .75, "the drift leaves nothing of what was learnt")
		drop += (near - far) / seeds
	}
	require.Greater(t, drop, .02, "the drift costs nothing")
}
