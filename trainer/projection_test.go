package trainer

import (
	"testing"

	"github.com/stretchr/testify/require"

	"lethe/trainer/integral"
	"lethe/trainer/kernels"
	"lethe/trainer/models"
)

// With many features a network is asked by what its first layers make of them, and says
// the same.
func TestProjectedNetworksSayTheSame(t *testing.T) {
	const features = 60
	for _, model := range models.Served().Names() {
		e := newEngine(t, with(model, func(c *Config) { c.Hidden = 8 }), kernels.Default())
		c := chain(t, e, 1, makeWindow(1, 2, 40, features))[1]
		in := InputOfSlice(makeSlice(sliceSpec{timestep: 9, nodes: 30, features: features}))
		p := project(c.Network, models.Served())
		require.Less(t, p.columns(), features, model)
		places := []integral.Place{{At: 0}, {At: .3}, {At: 1}}
		paths := newPaths(e, inTurn, []*Checkpoint{c}, []Spot{{in, 4}})
		got, err := paths.visit(t.Context(), places)
		require.NoError(t, err)
		paths.networks[0], paths.features[0][0] = projection{network: c.Network}, in.Features
		want, err := paths.visit(t.Context(), places)
		require.NoError(t, err)
		for i := range want {
			require.InDelta(t, want[i].Value, got[i].Value, 1e-4, model)
			require.InDeltaSlice(t, want[i].Terms, got[i].Terms, 1e-4, model)
		}
	}
}
