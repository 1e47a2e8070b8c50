package trainer

import (
	"context"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"lethe"
	"lethe/trainer/kernels"
	"lethe/trainer/layers"
	"lethe/trainer/models"
)

func TestStubsBecomeRows(t *testing.T) {
	s := &lethe.Slice{
		FeatureCount: 2, Nodes: make([]lethe.Pseudonym, 3),
		Labels:   []lethe.Label{lethe.Licit, lethe.Unknown, lethe.Illicit},
		Features: []float32{1, 2, 3, 4, 5, 6},
		Edges:    []lethe.Edge{{A: 0, B: 2}},
		Stubs:    []lethe.Stub{{Owner: 2, Lambda: 0.5}, {Owner: 2, Lambda: 0}},
	}
	for _, k := range kernelSets(t) {
		e := newEngine(t, Defaults(), k)
		batches, rows, form := e.prepareWindow([]*lethe.Slice{s}, e.config.Architecture(2))
		b := batches[0]
		require.Equal(t, models.Cached, form)
		require.Equal(t, 5, rows)
		require.Equal(t, []float32{1, 2, 3, 4, 5, 6, 2.5, 3, 0, 0}, b.Features.Dense.Data)
		require.Equal(t, []int32{0, layers.Ignored, 1, layers.Ignored, layers.Ignored}, b.Labels)
		require.Equal(t, []float32{5, 6, 0, 0, 3.5, 5, 5, 6, 5, 6}, b.Aggregated.Dense.Data)
	}
}

func TestClassWeightsComeFromTheSliceAlone(t *testing.T) {
	require.Equal(t, []float32{1, 3}, classWeights(BalancedClasses, []int{9, 3}))
	require.Equal(t, []float32{1, 0.25}, classWeights(BalancedClasses, []int{1, 4}))
	require.Equal(t, []float32{1, 2}, classWeights(RootClasses, []int{8, 2}))
	for _, rule := range []string{BalancedClasses, RootClasses, EqualClasses} {
		require.Equal(t, []float32{1, 1}, classWeights(rule, []int{5, 0}))
		require.Equal(t, []float32{1, 1}, classWeights(rule, []int{0, 5}))
	}
	require.Equal(t, []float32{1, 1}, classWeights(EqualClasses, []int{9, 3}))
	require.Equal(t, []float32{1, 1, 3, 0.5}, classWeights(BalancedClasses, []int{0, 6, 2, 12}))
}

func TestInvalidSlicesAreRefused(t *testing.T) {
	e := newEngine(t, with(models.EllipticGIN, func(c *Config) { c.Hidden, c.WindowTimesteps = 8, 2 }), kernels.Portable())
	for name, change := range map[string]func(s *lethe.Slice){
		"no features":    func(s *lethe.Slice) { s.FeatureCount = 0 },
		"feature values": func(s *lethe.Slice) { s.Features = s.Features[1:] },
		"labels":         func(s *lethe.Slice) { s.Labels = s.Labels[1:] },
		"label":          func(s *lethe.Slice) { s.Labels[2] = lethe.NumLabels },
		"edge order":     func(s *lethe.Slice) { s.Edges[0] = lethe.Edge{A: 2, B: 1} },
		"edge end":       func(s *lethe.Slice) { s.Edges[0] = lethe.Edge{A: 2, B: 12} },
		"stub":           func(s *lethe.Slice) { s.Stubs[0].Owner = 12 },
		"shard":          func(s *lethe.Slice) { s.Shard = 4 },
		"order":          func(s *lethe.Slice) { s.Timestep = 1 },
		"feature count":  func(s *lethe.Slice) { s.FeatureCount, s.Features = 6, make([]float32, 72) },
	} {
		window := []*lethe.Slice{
			makeSlice(sliceSpec{timestep: 1, shard: 3, nodes: 12, features: 5, stubs: 2}),
			makeSlice(sliceSpec{timestep: 2, shard: 3, nodes: 12, features: 5, stubs: 2}),
		}
		change(window[1])
		_, _, err := e.Train(context.Background(), 3, nil, window)
		require.ErrorIs(t, err, ErrInvalidSlice, name)
	}
	for _, n := range []int{0, 3} {
		_, _, err := e.Train(context.Background(), 3, nil, makeWindow(3, n, 12, 5))
		require.ErrorIs(t, err, ErrInvalidSlice, "%d slices", n)
	}
}

func TestTrainAndPredictHeedTheContext(t *testing.T) {
	e := newEngine(t, with(models.EllipticGIN, func(c *Config) { c.Hidden = 8 }), kernels.Portable())
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_, _, err := e.Train(ctx, 1, nil, makeWindow(1, 1, 12, 5))
	require.ErrorIs(t, err, context.Canceled)
	_, err = e.Probabilities(ctx, e.fresh(1, 5), Input{})
	require.ErrorIs(t, err, context.Canceled)
}

func TestPredictChecksItsInput(t *testing.T) {
	e := newEngine(t, with(models.EllipticGIN, func(c *Config) { c.Hidden = 8 }), kernels.Portable())
	c := e.fresh(1, 2)
	for name, in := range map[string]struct {
		in   Input
		want error
	}{
		"features": {Input{Rows: 1, Cols: 3, Features: make([]float32, 3)}, ErrIncompatible},
		"values":   {Input{Rows: 2, Cols: 2, Features: make([]float32, 3)}, ErrInvalidSlice},
		"edges": {Input{Rows: 1, Cols: 2, Features: make([]float32, 2), Edges: []lethe.Edge{{A: 0, B: 1}}},
			ErrInvalidSlice},
		"no number": {Input{Rows: 1, Cols: 2, Features: []float32{0, float32(math.Inf(1))}}, ErrNotFinite},
	} {
		_, err := e.Probabilities(context.Background(), c, in.in)
		require.ErrorIs(t, err, in.want, name)
	}
	p, err := e.Probabilities(context.Background(), c, Input{Cols: 2})
	require.NoError(t, err)
	require.Empty(t, p)
	c.Params = c.Params[1:]
	_, err = e.Probabilities(context.Background(), c, Input{Cols: 2})
	require.ErrorIs(t, err, ErrIncompatible)
}

func TestInputOfASnapshot(t *testing.T) {
	s := &lethe.Snapshot{
		FeatureCount: 1, Nodes: make([]lethe.SnapshotNode, 3), Features: []float32{1, 2, 3},
		Payments: []lethe.Arc{{Source: 0, Target: 1}, {Source: 1, Target: 0}, {Source: 2, Target: 1}},
	}
	require.Equal(t, Input{
		Rows: 3, Cols: 1, Features: s.Features, Edges: []lethe.Edge{{A: 0, B: 1}, {A: 1, B: 2}},
	}.Shared(), InputOf(s))
}

func TestIntegerPower(t *testing.T) {
	for n := range uint64(40) {
		require.InEpsilon(t, math.Pow(0.9, float64(n)), integerPower(0.9, n), 1e-13)
	}
}
