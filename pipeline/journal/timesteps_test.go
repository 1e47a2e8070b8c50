package journal_test

import (
	"maps"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"lethe"
	"lethe/pipeline/journal"
)

// A set of runs holds the same timesteps as a map, whatever was added and removed.
func TestTimestepsAreASet(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		some := rapid.SliceOfN(rapid.Int64Range(0, 20), 0, 12)
		want := make(map[lethe.Timestep]bool)
		for _, n := range some.Draw(rt, "of") {
			want[lethe.Timestep(n)] = true
		}
		set := journal.TimestepsOf(slices.Sorted(maps.Keys(want)))
		for _, n := range some.Draw(rt, "changes") {
			if last := lethe.Timestep(n + n%4); n%2 == 0 {
				set = set.With([2]lethe.Timestep{lethe.Timestep(n), last})
				for t := lethe.Timestep(n); t <= last; t++ {
					want[t] = true
				}
			} else {
				set = set.Without(lethe.Timestep(n))
				delete(want, lethe.Timestep(n))
			}
		}
		require.Equal(rt, journal.TimestepsOf(slices.Sorted(maps.Keys(want))), set)
		for t := range lethe.Timestep(25) {
			require.Equal(rt, want[t], set.Holds(t))
		}
	})
}
