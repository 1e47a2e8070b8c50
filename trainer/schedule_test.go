package trainer

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"lethe"
	"lethe/canonical"
	"lethe/trainer/kernels"
	"lethe/trainer/models"
)

// Going on from any stored checkpoint gives what straight-through training
// gives, and a replaced slice changes exactly the checkpoints from it on.
func TestReplayEqualsStraightThrough(t *testing.T) {
	const steps = 8
	opts := with(models.EllipticGIN, func(c *Config) { c.Hidden, c.WindowTimesteps, c.Passes = 8, 3, 2 })
	original := makeWindow(1, steps, 20, 5)
	e := newEngine(t, opts, kernels.Default())
	straight := chain(t, e, 1, original)
	rapid.Check(t, func(rt *rapid.T) {
		at := rapid.IntRange(0, steps-1).Draw(rt, "replaced")
		slices := append([]*lethe.Slice(nil), original...)
		slices[at] = makeSlice(sliceSpec{timestep: original[at].Timestep, shard: 1, nodes: 17, features: 5})
		fresh := chain(t, newEngine(t, opts, kernels.Default()), 1, slices)
		for i := range at {
			require.Equal(rt, digestOf(straight[i]), digestOf(fresh[i]), "before the replaced slice")
		}
		var previous *Checkpoint
		if at > 0 {
			stored, err := DecodeCheckpoint(EncodeCheckpoint(straight[at-1]))
			require.NoError(rt, err)
			previous = stored
		}
		for i := at; i < steps; i++ {
			next, _, err := e.Train(context.Background(), 1, previous, slices[max(0, i-2):i+1])
			require.NoError(rt, err)
			require.Equal(rt, digestOf(fresh[i]), digestOf(next), "replayed at %d", i)
			require.NotEqual(rt, straight[i].Lineage, next.Lineage)
			require.NotEqual(rt, straight[i].Params, next.Params)
			previous = next
		}
	})
}

func TestWindowScheduleForgetsOldSlices(t *testing.T) {
	e := newEngine(t, with(models.EllipticGIN, func(c *Config) { c.Hidden, c.WindowTimesteps, c.Schedule = 8, 2, Window }),
		kernels.Default())
	slices := makeWindow(1, 5, 20, 5)
	before := chain(t, e, 1, slices)
	slices[0] = makeSlice(sliceSpec{timestep: 1, shard: 1, nodes: 9, features: 5})
	after := chain(t, e, 1, slices)
	require.NotEqual(t, digestOf(before[1]), digestOf(after[1]))
	for i := 2; i < len(slices); i++ {
		require.Equal(t, digestOf(before[i]), digestOf(after[i]), "timestep %d", i+1)
	}
}

func TestLineageIsTheChainOfSliceDigests(t *testing.T) {
	slices := makeWindow(1, 4, 12, 5)
	opts := with(models.EllipticGIN, func(c *Config) { c.Hidden, c.WindowTimesteps = 8, 2 })
	chained := opts.Genesis(1)
	for i, c := range chain(t, newEngine(t, opts, kernels.Default()), 1, slices) {
		chained = Lineage(chained, canonical.DigestOf(canonical.EncodeSlice(slices[i])))
		require.Equal(t, chained, c.Lineage, "after slice %d", i)
	}
	other := opts
	other.Seed++
	require.NotEqual(t, opts.Genesis(1), other.Genesis(1))
	require.NotEqual(t, opts.Genesis(1), opts.Genesis(2))

	window := []lethe.Digest{{1}, {2}}
	require.Equal(t, Lineage(lethe.Digest{9}, lethe.Digest{2}), opts.LineageOf(lethe.Digest{9}, window))
	opts.Schedule = Window
	require.Equal(t, Lineage(Lineage(opts.Genesis(2), lethe.Digest{1}), lethe.Digest{2}),
		opts.LineageOf(lethe.Digest{9}, window))
	require.Equal(t, lethe.Digest{9}, opts.LineageOf(lethe.Digest{9}, nil))
}

func TestWithoutLabelsOnlyTheLineageMoves(t *testing.T) {
	e := newEngine(t, with(models.EllipticGIN, func(c *Config) { c.Hidden, c.WindowTimesteps = 8, 1 }), kernels.Default())
	first, report, err := e.Train(context.Background(), 1, nil, makeWindow(1, 1, 20, 5))
	require.NoError(t, err)
	require.Equal(t, 3, report.Steps)
	require.NotEqual(t, e.fresh(1, 5).Params, first.Params)
	require.NotEqual(t, e.fresh(1, 5).Buffers, first.Buffers)
	blank := makeSlice(sliceSpec{timestep: 2, shard: 1, nodes: 20, features: 5, unlabelled: true})
	empty := &lethe.Slice{Timestep: 3, Previous: 2, Shard: 1, FeatureCount: 5}
	previous := first
	for _, s := range []*lethe.Slice{blank, empty} {
		next, report, err := e.Train(context.Background(), 1, previous, []*lethe.Slice{s})
		require.NoError(t, err)
		require.Equal(t, Report{}, report)
		require.NotEqual(t, previous.Lineage, next.Lineage)
		require.Equal(t, s.Timestep, next.Timestep)
		next.Lineage, next.Timestep = first.Lineage, first.Timestep
		require.Equal(t, first, next)
		next.Timestep = s.Timestep
		previous = next
	}
	// A shard may even start with nothing.
	none, _, err := e.Train(context.Background(), 1, nil, []*lethe.Slice{empty})
	require.NoError(t, err)
	require.Equal(t, e.fresh(1, 5).Params, none.Params)
}

// Training lowers the loss, and classes are told apart on unseen data.
func TestTrainingLearns(t *testing.T) {
	for _, k := range kernelSets(t) {
		e := newEngine(t, with(models.EllipticGIN, func(c *Config) { c.Hidden, c.Passes = 16, 40 }), k)
		window := makeWindow(1, 6, 60, 5)
		c, report, err := e.Train(context.Background(), 1, nil, window)
		require.NoError(t, err)
		require.Equal(t, 240, report.Steps)
		require.Equal(t, 6, report.Slices)
		require.Less(t, report.FinalLoss, report.FirstLoss/2)

		unseen := makeSlice(sliceSpec{timestep: 99, shard: 1, nodes: 300, features: 5})
		p := illicit(t, e, c, Input{Rows: 300, Cols: 5, Features: unseen.Features, Edges: unseen.Edges})
		require.Greater(t, areaUnderCurve(p, unseen.Labels), 0.85)
	}
}

// areaUnderCurve counts the pairs of an illicit and a licit row in order.
func areaUnderCurve(p []float32, labels []lethe.Label) float64 {
	right, pairs := 0.0, 0.0
	for i, a := range labels {
		for j, b := range labels {
			if a == lethe.Illicit && b == lethe.Licit {
				pairs++
				switch {
				case p[i] > p[j]:
					right++
				case p[i] == p[j]:
					right += 0.5
				}
			}
		}
	}
	return right / pairs
}
