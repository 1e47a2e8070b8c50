package challenge

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"lethe"
	"lethe/scoring/ensemble"
	"lethe/trainer"
	"lethe/trainer/column"
)

// step is a model after a timestep that has to be retrained.
type step struct {
	model lethe.ShardID
	at    lethe.Timestep
	// previous is the timestep of the model that training continues from, or NoTimestep for fresh
	// weights.
	previous lethe.Timestep
	// window are the timesteps that it is trained on, ascending; before is the timestep before
	// them, or NoTimestep.
	window []lethe.Timestep
	before lethe.Timestep
}

// Steps are the models that pairs depend on, without duplicates.
type Steps struct {
	layout ensemble.Layout
	list   []step
	// over are the timesteps that the meta-model learns from, if it is relearned: it is the one
	// after the last of them.
	over []lethe.Timestep
}

// Steps returns the models to retrain for pairs: for every component the model that learns from the
// shard. If the component continues from its previous model, this is the model after the pair's
// timestep. If it is refitted for each timestep, only the newest model is served, and older ones
// may have been deleted: this is the newest one, if its window includes the timestep. Problems name
// slices or models that the log lacks.
func (v *View) Steps(layout ensemble.Layout, pairs []Pair) (Steps, []string) {
	s := Steps{layout: layout}
	timesteps, problems := v.complete(layout)
	if len(problems) > 0 {
		return s, problems
	}
	known := make(map[modelAt]bool)
	for _, p := range pairs {
		for component, model := range layout.ModelsOf(p.Shard) {
			next, reached := stepOf(layout.Config(model), model, timesteps, p.Timestep)
			_, group := layout.Place(model)
			at := modelAt{component, group, next.at}
			if !reached || known[at] {
				continue
			}
			known[at] = true
			s.list = append(s.list, next)
			for _, t := range []lethe.Timestep{next.at, next.previous} {
				if t != lethe.NoTimestep && v.Model(component, group, t).IsZero() {
					problems = append(problems, fmt.Sprintf("the log commits to no model of %s after timestep %d: "+
						"training has not come so far, or the deployment left it out", s.named(model), t))
				}
			}
		}
	}
	slices.SortFunc(s.list, func(a, b step) int {
		return cmp.Or(cmp.Compare(a.model, b.model), cmp.Compare(a.at, b.at))
	})
	return s, problems
}

// complete returns the timesteps of the log. A timestep that lacks the slice of a shard is a
// problem.
func (v *View) complete(layout ensemble.Layout) (timesteps []lethe.Timestep, problems []string) {
	counts := make(map[lethe.Timestep]int)
	for _, p := range v.Pairs() {
		if int(p.Shard) >= layout.Shards {
			return nil, []string{fmt.Sprintf("the log commits to a slice of shard %d, and there are %d shards", p.Shard,
				layout.Shards)}
		}
		counts[p.Timestep]++
	}
	timesteps = slices.Sorted(maps.Keys(counts))
	for _, t := range timesteps {
		if counts[t] != layout.Shards {
			problems = append(problems, fmt.Sprintf("the log commits to slices of %d of %d shards at timestep %d", counts[t],
				layout.Shards, t))
		}
	}
	return timesteps, problems
}

// stepOf returns the training data of the model whose bytes depend on a timestep. The result is
// false if there is no such model.
func stepOf(c trainer.Config, model lethe.ShardID, timesteps []lethe.Timestep, t lethe.Timestep) (step, bool) {
	anew := c.Schedule == trainer.Window
	if !anew {
		end, _ := slices.BinarySearch(timesteps, t)
		timesteps = timesteps[:end+1]
	}
	last := len(timesteps) - 1
	s := step{model, timesteps[last], lethe.NoTimestep, column.Window(c, timesteps), lethe.NoTimestep}
	if begin := len(timesteps) - len(s.window); begin > 0 {
		s.before = timesteps[begin-1]
	}
	if !anew && last > 0 {
		s.previous = timesteps[last-1]
	}
	return s, s.window[0] <= t
}

// named returns the name of a model by its number.
func (s Steps) named(model lethe.ShardID) string {
	component, group := s.layout.Place(model)
	return fmt.Sprintf("component %s, group %d", s.layout.Components[component].Config.Model, group)
}

// Slices returns the slices that the steps train on, ascending.
func (s Steps) Slices() []Pair {
	needed := make(map[Pair]bool)
	for _, st := range s.list {
		for _, shard := range s.layout.ShardsOf(st.model) {
			for _, t := range st.window {
				needed[Pair{shard, t}] = true
			}
		}
	}
	for _, t := range s.over {
		for shard := range lethe.ShardID(s.layout.Shards) {
			needed[Pair{shard, t}] = true
		}
	}
	return ascending(needed)
}

// Before returns the models that the steps continue from, and those below the meta-model, with the
// model's number as shard, ascending.
func (s Steps) Before() []Pair {
	needed := make(map[Pair]bool)
	for _, st := range s.list {
		if st.previous != lethe.NoTimestep {
			needed[Pair{st.model, st.previous}] = true
		}
	}
	if len(s.over) > 0 {
		for model := range lethe.ShardID(s.layout.Models()) {
			needed[Pair{model, s.over[len(s.over)-1]}] = true
		}
	}
	return ascending(needed)
}

func ascending(pairs map[Pair]bool) []Pair {
	out := slices.Collect(maps.Keys(pairs))
	slices.SortFunc(out, Pair.Compare)
	return out
}
