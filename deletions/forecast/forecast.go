package forecast

import (
	"slices"

	"lethe"
	"lethe/deletions"
	"lethe/deletions/coordinator"
	"lethe/deletions/receipt"
	"lethe/internal/sortedset"
	"lethe/scoring/ensemble"
	"lethe/trainer"
)

// Forecast is the expected cost of an erasure. Its JSON names are part of the command line; it names no target.
type Forecast struct {
	// Held counts the targets of which something is held.
	Targets int    `json:"targets"`
	Held    int    `json:"held"`
	Basis   string `json:"estimates_from"`
	// Scopes are in the requested order.
	Scopes []Scope `json:"scopes"`
}

// Scope is the forecast of one scope.
type Scope struct {
	Scope lethe.Scope `json:"scope"`
	// Rejected is why the deployment rejects the scope; then the rest is empty.
	Rejected string `json:"rejected,omitempty"`
	// Timesteps are rewritten, Shards get a replaced slice; both ascend.
	Timesteps []lethe.Timestep `json:"timesteps"`
	Shards    []lethe.ShardID  `json:"shards"`
	// Counted as on the receipt.
	Slices   int `json:"slices"`
	Stubs    int `json:"stubs"`
	Payments int `json:"payments"`
	Labels   int `json:"labels"`
	// Models are retrained, by component.
	Models []Models `json:"models"`
	Cost
	// Everything is the cost of retraining all models from the start; Cheaper is replay or everything, by processor
	// time.
	Everything Cost   `json:"everything"`
	Cheaper    string `json:"cheaper"`
	// MayRemain is as on the receipt.
	MayRemain []string `json:"may_remain"`
}

// Cost is in checkpoints, steps and estimated seconds.
type Cost struct {
	Checkpoints int `json:"checkpoints"`
	Steps       int `json:"training_steps"`
	// Seconds are until the swap of an idle deployment, Processor those of training and partitioning.
	Seconds   float64 `json:"estimated_seconds"`
	Processor float64 `json:"estimated_processor_seconds"`
}

// Settings are the inputs beside the graphs.
type Settings struct {
	Layout ensemble.Layout
	// Workers is the number of models trained in parallel.
	Workers           int
	IndependentShards bool
	Rates             Rates
}

// Facts are the inputs of the graphs.
type Facts struct {
	// Targets counts distinct ones.
	Targets int
	Scopes  []lethe.Scope
	// Plans lack rejected scopes.
	Plans map[lethe.Scope]coordinator.Plan
	// Settled are the settled timesteps, ascending; Past are erasures that ran alone.
	Settled []lethe.Timestep
	Past    []deletions.Entry
}

// Of makes a forecast.
func Of(f Facts, s Settings) Forecast {
	e := newEstimator(s.Layout, s.Rates, s.Workers, f.Settled)
	e.learn(f.Past)
	out := Forecast{Targets: f.Targets, Basis: e.basis(), Scopes: []Scope{}}
	for _, scope := range f.Scopes {
		plan, possible := f.Plans[scope]
		if !possible {
			out.Scopes = append(out.Scopes, Scope{Scope: scope, Rejected: string(deletions.RejectedScope)})
			continue
		}
		held := 0
		for _, h := range plan.Held {
			if h {
				held++
			}
		}
		out.Held = max(out.Held, held)
		out.Scopes = append(out.Scopes, e.scope(scope, plan, f, s))
	}
	return out
}

func (e *estimator) scope(scope lethe.Scope, plan coordinator.Plan, f Facts, s Settings) Scope {
	out := Scope{Scope: scope, Timesteps: []lethe.Timestep{}, Shards: []lethe.ShardID{}}
	var replaced []deletions.SliceRef
	for _, step := range plan.Steps {
		out.Timesteps = sortedset.Add(out.Timesteps, step.Timestep)
		out.Shards = sortedset.Add(out.Shards, step.Shards...)
		out.Stubs, out.Payments, out.Labels = out.Stubs+step.Stubs, out.Payments+step.Payments, out.Labels+step.Labels
		for _, shard := range step.Shards {
			replaced = append(replaced, deletions.SliceRef{Timestep: step.Timestep, Shard: shard})
		}
	}
	slices.SortFunc(replaced, deletions.SliceRef.Compare)
	out.Slices = len(replaced)
	work, all := workOf(s.Layout, f.Settled, replaced), everything(s.Layout, f.Settled)
	repartitioned := scope == lethe.ScopePartition
	out.Models = work
	out.Cost = e.cost(work, len(out.Timesteps), repartitioned)
	out.Everything = e.cost(all, len(out.Timesteps), repartitioned)
	out.Cheaper = "replay"
	if out.Everything.Processor < out.Processor {
		out.Cheaper = "everything"
	}
	out.MayRemain = receipt.MayRemain(scope, s.IndependentShards)
	return out
}

func (e *estimator) cost(w Work, timesteps int, repartitioned bool) Cost {
	wall, processor := e.training(w)
	if repartitioned {
		processor += e.partitions(timesteps)
	}
	return Cost{
		Checkpoints: w.checkpoints(), Steps: w.steps(), Seconds: e.swapped(timesteps, repartitioned, wall),
		Processor: processor,
	}
}

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

// Work are the models retrained because of replaced slices.
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

// workOf returns the models to retrain when slices are replaced. settled are the settled timesteps, ascending.
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
