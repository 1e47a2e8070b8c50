package audit

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"lethe"
)

// A directory that was stopped amid training lacks the newest checkpoints: that is no problem. What is served was
// learnt, and so was what came before something that was learnt: there one that is missing was lost.
func TestTrainingThatIsUnderWayIsNoProblem(t *testing.T) {
	check := func(spoil func(inv *inventory)) *Report {
		inv := whole(t)
		for _, h := range inv.columns {
			h.Timesteps = append(h.Timesteps, 2)
			h.Slices[2] = h.Slices[1]
		}
		spoil(inv)
		r := &Report{}
		require.NoError(t, inv.checkSlices(r))
		inv.learnt().checkCheckpoints(r)
		return r
	}
	r := check(func(*inventory) {})
	require.Empty(t, r.Problems)
	require.Equal(t, []lethe.Timestep{1, 2}, r.Untrained)

	r = check(func(inv *inventory) { inv.served.Through = 1 })
	require.Equal(t, []string{"shard 0: no checkpoint after timestep 1", "shard 1: no checkpoint after timestep 1"},
		r.Problems)
	require.Equal(t, []lethe.Timestep{2}, r.Untrained)

	r = check(func(inv *inventory) { // the slices of another shard have come
		inv.columns[0].Timesteps, inv.columns[0].Slices = nil, nil
	})
	require.Empty(t, r.Problems)
	require.Equal(t, []lethe.Timestep{1, 2}, r.Untrained)

	r = check(func(inv *inventory) {
		inv.columns[0].Timesteps, inv.columns[0].Slices, inv.served.Through = nil, nil, 1
	})
	require.Contains(t, r.Problems, "timestep 1 shard 0: no slice is stored")

	r = check(func(inv *inventory) {
		inv.columns[0].Learnt[0] = map[lethe.Timestep][]byte{2: []byte("not one")}
	})
	require.Contains(t, strings.Join(r.Problems, "\n"), "shard 0: no checkpoint after timestep 1")
	require.NotContains(t, strings.Join(r.Problems, "\n"), "shard 1")
}
