package journal

import (
	"fmt"
	"slices"

	"lethe"
)

// Timesteps is a set of timesteps, as ascending runs: the first and the last timestep of each.
type Timesteps [][2]lethe.Timestep

// Holds reports whether a timestep is in the set.
func (s Timesteps) Holds(t lethe.Timestep) bool {
	return slices.ContainsFunc(s, func(run [2]lethe.Timestep) bool { return run[0] <= t && t <= run[1] })
}

// TimestepsOf returns the set of ascending timesteps.
func TimestepsOf(ascending []lethe.Timestep) (out Timesteps) {
	for _, t := range ascending {
		if last := len(out) - 1; last >= 0 && out[last][1] == t-1 {
			out[last][1] = t
		} else {
			out = append(out, [2]lethe.Timestep{t, t})
		}
	}
	return out
}

// With returns the set with a run.
func (s Timesteps) With(added [2]lethe.Timestep) (out Timesteps) {
	for _, run := range s {
		switch {
		case run[1] < added[0]-1:
			out = append(out, run)
		case run[0] > added[1]+1:
			out, added = append(out, added), run
		default:
			added = [2]lethe.Timestep{min(run[0], added[0]), max(run[1], added[1])}
		}
	}
	return append(out, added)
}

// Without returns the set without a timestep.
func (s Timesteps) Without(t lethe.Timestep) (out Timesteps) {
	for _, run := range s {
		if t < run[0] || run[1] < t {
			out = append(out, run)
			continue
		}
		if run[0] < t {
			out = append(out, [2]lethe.Timestep{run[0], t - 1})
		}
		if t < run[1] {
			out = append(out, [2]lethe.Timestep{t + 1, run[1]})
		}
	}
	return out
}

func (s Timesteps) valid() error {
	before := lethe.NoTimestep
	for _, run := range s {
		if run[0] <= before || run[1] < run[0] {
			return fmt.Errorf("timesteps %d to %d after %d", run[0], run[1], before)
		}
		before = run[1]
	}
	return nil
}
