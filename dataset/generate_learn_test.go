package dataset_test

import (
	"bytes"
	"cmp"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"lethe"
	"lethe/dataset"
	"lethe/scoring/reasons"
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

func generated(t *testing.T, features int) *dataset.Stream {
	t.Helper()
	o := dataset.GenerateDefaults()
	o.Steps, o.NodesPerStep, o.Features = 2, 60, features
	s, err := dataset.Generate(o)
	require.NoError(t, err)
	return s
}

// Reasons take the names that generate writes, and no two features share a name.
func TestGeneratedFeaturesHaveNames(t *testing.T) {
	for _, features := range []int{2, 3, 10, 165, 400} {
		s := generated(t, features)
		require.NoError(t, validate(s))
		require.Len(t, s.FeatureNames, features)
		seen := make(map[string]bool)
		for _, name := range s.FeatureNames {
			require.NotEmpty(t, name)
			require.False(t, seen[name], "%q is the name of two of %d features", name, features)
			seen[name] = true
		}
		var file bytes.Buffer
		require.NoError(t, dataset.WriteNames(&file, s))
		read, err := reasons.ReadNames(&file)
		require.NoError(t, err)
		require.Equal(t, s.FeatureNames, read)
	}
}

func TestNamesOfFeatures_OtherCount_Refused(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, dataset.WriteElliptic(dir, generated(t, 5), false))
	s, err := dataset.LoadElliptic(t.Context(), dir)
	require.NoError(t, err)
	require.Len(t, s.FeatureNames, 5)
	path := filepath.Join(dir, dataset.FeatureNamesFile)

	require.NoError(t, os.WriteFile(path, []byte(strings.Join(s.FeatureNames, "\r\n")+"\r\n"), 0o600))
	lines, err := dataset.LoadElliptic(t.Context(), dir)
	require.NoError(t, err)
	require.Equal(t, s.FeatureNames, lines.FeatureNames)

	require.NoError(t, os.WriteFile(path, []byte("amount\nfee\n"), 0o600))
	_, err = dataset.LoadElliptic(t.Context(), dir)
	require.ErrorIs(t, err, dataset.ErrMalformed)
	require.ErrorContains(t, err, "feature_names.txt: 2 lines, want one for each of 5 features")
}

// The names of a stream that another one replaces do not stay.
func TestWriteElliptic_StreamWithoutNames_DeletesOldNames(t *testing.T) {
	dir, s := t.TempDir(), generated(t, 5)
	require.NoError(t, dataset.WriteElliptic(dir, s, false))
	require.FileExists(t, filepath.Join(dir, dataset.FeatureNamesFile))
	s.FeatureNames = nil
	require.NoError(t, dataset.WriteElliptic(dir, s, true))
	require.NoFileExists(t, filepath.Join(dir, dataset.FeatureNamesFile))
}
