package trainer

import (
	"context"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"lethe"
	"lethe/canonical"
	"lethe/trainer/kernels"
	"lethe/trainer/models"
	"lethe/trainer/trees"
)

func blendConfig() Config {
	return with(Blend, func(c *Config) {
		c.Components = []string{models.EllipticGIN, Trees, Logistic}
		c.Hidden, c.Seed = 8, 3
		c.Trees.Rounds, c.Trees.MinChildRows = 5, 2
		c.Blend.NetworkTimesteps, c.Blend.Rate = 2, 0.1
	})
}

func blendOf(t testing.TB, c *Checkpoint) *blend {
	t.Helper()
	b, err := decodeBlend(c.Body, models.Served())
	require.NoError(t, err)
	require.Equal(t, c.Body, b.encode())
	return b
}

// Components are what they would be alone, and the losses are those of their
// answers about every slice before they were trained on it.
func TestBlendHoldsWhatItsComponentsAreAlone(t *testing.T) {
	e := newEngine(t, blendConfig(), kernels.Portable())
	slices := makeWindow(1, 5, 30, 7)
	blends := chain(t, e, 1, slices)
	for k, component := range e.components {
		alone := newEngine(t, component.config, kernels.Portable())
		loss := 0.0
		for i, c := range chain(t, alone, 1, slices) {
			b := blendOf(t, blends[i])
			require.Equal(t, digestOf(c), digestOf(b.models[k]), "%s after slice %d", component.config.Model, i)
			require.InDelta(t, loss, b.losses[k], 1e-9)
			if i+1 == len(slices) {
				break
			}
			s := slices[i+1]
			p, err := alone.Probabilities(context.Background(), c,
				Input{Rows: len(s.Nodes), Cols: 7, Features: s.Features, Edges: s.Edges})
			require.NoError(t, err)
			for row, label := range s.Labels {
				if label != lethe.Unknown {
					loss -= math.Log(math.Max(1e-7, float64(p[2*row+int(label)-1])))
				}
			}
		}
	}
}

func TestBlendIsAWeightedMeanOfLogarithms(t *testing.T) {
	e := newEngine(t, blendConfig(), kernels.Portable())
	c := chain(t, e, 1, makeWindow(1, 4, 30, 7))[3]
	b := blendOf(t, c)
	in := Input{Rows: 20, Cols: 7, Features: randomMatrix(20, 7, 8).Data, Edges: pathEdges(20)}
	got := illicit(t, e, c, in)
	total, logits := 0.0, make([]float64, in.Rows)
	for k, m := range b.models {
		w := math.Exp(-0.1 * b.losses[k])
		total += w
		for i, v := range illicit(t, e, m, in) {
			logits[i] += w * (math.Log(float64(v)) - math.Log(1-float64(v)))
		}
	}
	for i, z := range logits {
		require.InDelta(t, 1/(1+math.Exp(-z/total)), got[i], 1e-5)
	}
}

// A model that has been wrong loses its say.
func TestBlendWeighsModelsByTheirLosses(t *testing.T) {
	b := &blend{rate: 0.5, losses: []float64{10, 2, 2}}
	w := b.weights()
	require.InDelta(t, 1, w[0]+w[1]+w[2], 1e-12)
	require.Equal(t, w[1], w[2])
	require.InDelta(t, math.Exp(-4), w[0]/w[1], 1e-12)
}

// What a replaced slice did to weights and components is gone after a replay
// from its timestep.
func TestBlendForgets(t *testing.T) {
	e := newEngine(t, blendConfig(), kernels.Portable())
	without, with := makeWindow(1, 4, 30, 7), makeWindow(1, 4, 30, 7)
	with[1] = makeSlice(sliceSpec{timestep: with[1].Timestep, shard: 1, nodes: 31, features: 7})
	want, old := chain(t, e, 1, without), chain(t, e, 1, with)
	require.NotEqual(t, blendOf(t, want[3]).losses, blendOf(t, old[3]).losses)
	previous, err := DecodeCheckpoint(EncodeCheckpoint(old[0]))
	require.NoError(t, err)
	for i := 1; i < len(without); i++ {
		previous, _, err = e.Train(context.Background(), 1, previous, without[:i+1])
		require.NoError(t, err)
		require.Equal(t, digestOf(want[i]), digestOf(previous))
	}
}

func TestBlendRefuses(t *testing.T) {
	_, err := NewEngine(with(Blend, func(c *Config) {
		c.Schedule, c.Components, c.Blend.Rate = Window,
			[]string{Trees, Trees, Blend}, -1
	}), kernels.Portable())
	for _, want := range []string{
		`components is "trees", want every model once`, `components is "blend", want one of`, "blend.rate is -1",
		`schedule is "window"`,
	} {
		require.ErrorContains(t, err, want)
	}
	_, err = NewEngine(with(Blend, func(c *Config) { c.Trees.MaxLeaves = 1 }), kernels.Portable())
	require.ErrorContains(t, err, "trees.max_leaves is 1")

	o := blendConfig()
	e := newEngine(t, o, kernels.Portable())
	c := chain(t, e, 1, makeWindow(1, 2, 30, 7))[1]
	require.NoError(t, e.Compatible(c))
	o.Blend.Rate = 0.2
	require.ErrorIs(t, newEngine(t, o, kernels.Portable()).Compatible(c), ErrIncompatible)
	for _, change := range []func(*blend){
		func(b *blend) { b.models, b.losses = nil, nil },
		func(b *blend) { b.losses[0] = math.NaN() },
		func(b *blend) { b.models[0] = c },
	} {
		b := blendOf(t, c)
		change(b)
		_, err := decodeBlend(b.encode(), models.Served())
		require.ErrorIs(t, err, canonical.ErrCorrupt)
	}
}

// Under the schedule continual a forest grows at every timestep up to its bound,
// and replays like any model.
func TestTreesGrowAlongTheStream(t *testing.T) {
	e := newEngine(t, with(Trees, func(c *Config) {
		c.Schedule, c.WindowTimesteps = Continual, 2
		c.Trees.Rounds, c.Trees.UpdateRounds, c.Trees.MaxRounds, c.Trees.MinChildRows = 5, 3, 9, 2
	}), kernels.Portable())
	slices := makeWindow(1, 4, 30, 7)
	all := chain(t, e, 1, slices)
	for i, rounds := range []int{5, 8, 9, 9} {
		m, err := trees.Decode(all[i].Body)
		require.NoError(t, err)
		require.Equal(t, rounds, m.Rounds())
	}
	replayed, _, err := e.Train(context.Background(), 1, all[1], slices[1:3])
	require.NoError(t, err)
	require.Equal(t, digestOf(all[2]), digestOf(replayed))
}

// A shard that begins with licit transactions alone must still be able to learn
// what illicit ones are.
func TestTreesRecoverFromASliceOfOneClass(t *testing.T) {
	e := newEngine(t, with(Trees, func(c *Config) {
		c.Schedule, c.WindowTimesteps = Continual, 10
		c.Trees.UpdateRounds, c.Trees.MinChildRows = 30, 2
	}), kernels.Portable())
	slices := makeWindow(1, 4, 60, 7)
	for i, label := range slices[0].Labels {
		if label == lethe.Illicit {
			slices[0].Labels[i] = lethe.Licit
		}
	}
	last := chain(t, e, 1, slices)[3]
	unseen := makeSlice(sliceSpec{timestep: 99, shard: 1, nodes: 300, features: 7})
	p := illicit(t, e, last, Input{Rows: 300, Cols: 7, Features: unseen.Features})
	require.Greater(t, areaUnderCurve(p, unseen.Labels), 0.7)
}
