package forecast

import (
	"slices"

	"lethe"
	"lethe/deletions"
	"lethe/scoring/ensemble"
	"lethe/trainer"
)

// Models are those of a component that would be trained anew.
type Models struct {
	// Model is the kind, Groups how many there are of it.
	Model  string `json:"model"`
	Groups int    `json:"groups"`
	// Refitted are the groups concerned, ascending; Checkpoints is how many checkpoints they
	// take: one for each settled timestep from the first that changes on, or one in all where
	// models are fitted anew for the newest timestep.
	Refitted    []int `json:"refitted"`
	Checkpoints int   `json:"checkpoints"`
	// Steps counts the passes over a slice. A fit of trees or of a regression is one.
	Steps int `json:"training_steps"`
	// longest is the number of steps of one group that takes the most of them: they follow
	// one another.
	longest int
}

// Work is what replaced slices have trained anew.
type Work []Models

// steps is the sum over all components.
func (w Work) steps() (n int) {
	for _, m := range w {
		n += m.Steps
	}
	return n
}

// checkpoints is the sum over all components.
func (w Work) checkpoints() (n int) {
	for _, m := range w {
		n += m.Checkpoints
	}
	return n
}

// workOf counts what is trained anew when slices are replaced. settled are the timesteps that
// will be settled then, ascending.
func workOf(layout ensemble.Layout, settled []lethe.Timestep, replaced []deletions.SliceRef) Work {
	first := make(map[lethe.ShardID]lethe.Timestep)
	for _, ref := range replaced {
		for _, model := range layout.ModelsOf(ref.Shard) {
			if at, known := first[model]; !known || ref.Timestep < at {
				first[model] = ref.Timestep
			}
		}
	}
	out := make(Work, len(layout.Components))
	for i, c := range layout.Components {
		out[i] = Models{Model: c.Config.Model, Groups: c.Groups, Refitted: []int{}}
	}
	for model := range lethe.ShardID(layout.Models()) {
		at, affected := first[model]
		if !affected {
			continue
		}
		component, group := layout.Place(model)
		begin, _ := slices.BinarySearch(settled, at)
		checkpoints, steps := replay(layout.Config(model), begin, len(settled))
		m := &out[component]
		m.Refitted = append(m.Refitted, group)
		m.Checkpoints, m.Steps, m.longest = m.Checkpoints+checkpoints, m.Steps+steps, max(m.longest, steps)
	}
	return out
}

// replay counts the checkpoints and steps of one model from the timestep at a position on.
func replay(c trainer.Config, begin, timesteps int) (checkpoints, steps int) {
	if begin >= timesteps {
		return 0, 0
	}
	if c.Schedule == trainer.Window {
		return 1, 1
	}
	for at := begin; at < timesteps; at++ {
		steps += c.Passes * min(at+1, c.WindowTimesteps)
	}
	return timesteps - begin, steps
}

// everything is the work of training every model from its beginning.
func everything(layout ensemble.Layout, settled []lethe.Timestep) Work {
	var all []deletions.SliceRef
	for shard := range layout.Shards {
		if len(settled) > 0 {
			all = append(all, deletions.SliceRef{Timestep: settled[0], Shard: lethe.ShardID(shard)})
		}
	}
	return workOf(layout, settled, all)
}
