package forecast

import (
	"slices"

	"lethe"
	"lethe/deletions"
	"lethe/scoring/ensemble"
	"lethe/trainer"
)

// Models are a component's retrained models.
type Models struct {
	Model  string `json:"model"`
	Groups int    `json:"groups"`
	// Refitted are the groups, ascending; Checkpoints counts one per settled timestep from the first change, or one per
	// model fitted from scratch for the newest timestep.
	Refitted    []int `json:"refitted"`
	Checkpoints int   `json:"checkpoints"`
	// Steps counts passes over a slice; a fit of trees or a regression is one.
	Steps int `json:"training_steps"`
	// longest is the steps of the group with most: they are sequential.
	longest int
}

// Work is what replaced slices have retrained.
type Work []Models

func (w Work) steps() (n int) {
	for _, m := range w {
		n += m.Steps
	}
	return n
}

func (w Work) checkpoints() (n int) {
	for _, m := range w {
		n += m.Checkpoints
	}
	return n
}

// workOf counts what is retrained when slices are replaced. settled are the settled timesteps, ascending.
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

// replay counts one model's checkpoints and steps from a position on.
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

// everything is the work of training all from the start.
func everything(layout ensemble.Layout, settled []lethe.Timestep) Work {
	var all []deletions.SliceRef
	for shard := range layout.Shards {
		if len(settled) > 0 {
			all = append(all, deletions.SliceRef{Timestep: settled[0], Shard: lethe.ShardID(shard)})
		}
	}
	return workOf(layout, settled, all)
}
