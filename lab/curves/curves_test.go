package curves_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"lethe/lab/curves"
	"lethe/lab/protocol"
)

func TestCurves(t *testing.T) {
	for _, c := range []struct {
		axis   curves.Axis
		x, all []float64
	}{
		{curves.Epochs, []float64{1, 2}, []float64{2.5, 1.5}},
		{curves.Timesteps, []float64{7, 8}, []float64{2.25, 1.75}},
	} {
		r := curves.NewRecorder(c.axis)
		for _, e := range []protocol.Epoch{
			// Shard 0 loses a unit over both timesteps, shard 1 starts lower.
			{Shard: 0, Timestep: 7, Epoch: 1, Loss: 4}, {Shard: 0, Timestep: 8, Epoch: 1, Loss: 2},
			{Shard: 0, Timestep: 7, Epoch: 2, Loss: 2}, {Shard: 0, Timestep: 8, Epoch: 2, Loss: 2},
			{Shard: 1, Timestep: 7, Epoch: 1, Loss: 2}, {Shard: 1, Timestep: 8, Epoch: 1, Loss: 2},
			{Shard: 1, Timestep: 7, Epoch: 2, Loss: 1}, {Shard: 1, Timestep: 8, Epoch: 2, Loss: 1},
		} {
			r.Epoch(e)
		}
		f := r.Figure("losses")
		require.Len(t, f.Lines, 3, "two shards and their mean")
		require.True(t, f.Lines[0].Faint)
		require.Equal(t, c.x, f.Lines[2].X)
		require.Equal(t, c.all, f.Lines[2].Y)
	}
}
