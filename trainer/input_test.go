package trainer

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"lethe"
	"lethe/trainer/kernels"
	"lethe/trainer/models"
)

// Models asked side by side about one shared input, of several kinds, say what
// each says about an input of its own.
func TestASharedInputChangesNoAnswer(t *testing.T) {
	const features = 6
	s := makeSlice(sliceSpec{timestep: 1, nodes: 60, features: features})
	alone := Input{Rows: 60, Cols: features, Features: s.Features, Edges: s.Edges}
	type asked struct {
		engine     *Engine
		checkpoint *Checkpoint
		want       []float32
	}
	var all []asked
	for _, config := range []Config{
		DefaultsOf(models.EllipticGIN), DefaultsOf("perceptron", perceptron()),
	} {
		config.Passes = 2
		e := newEngine(t, config, kernels.Default())
		c, _, err := e.Train(context.Background(), 0, nil, []*lethe.Slice{s})
		require.NoError(t, err)
		want, err := e.Probabilities(context.Background(), c, alone)
		require.NoError(t, err)
		all = append(all, asked{e, c, want})
	}
	shared := alone.Shared()
	for range 2 {
		got := make([][]float32, len(all))
		var g errgroup.Group
		for i, a := range all {
			g.Go(func() (err error) {
				got[i], err = a.engine.Probabilities(context.Background(), a.checkpoint, shared)
				return err
			})
		}
		require.NoError(t, g.Wait())
		for i, a := range all {
			require.Equal(t, a.want, got[i], "%s, %d hops", a.checkpoint.Architecture.Model, a.checkpoint.Architecture.Hops)
		}
	}
	require.Len(t, shared.shared.kept, len(all))
}
