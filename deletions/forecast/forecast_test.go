package forecast

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lethe"
	"lethe/deletions"
	"lethe/deletions/coordinator"
	"lethe/metrics/events"
	"lethe/scoring/ensemble"
	"lethe/trainer"
)

// layout is a network for each of four shards and trees for two groups of them.
func layout() ensemble.Layout {
	network, trees := trainer.Defaults(), trainer.DefaultsOf(trainer.Trees)
	network.Passes, network.WindowTimesteps = 3, 2
	components := []ensemble.Component{{Config: network, Groups: 4}, {Config: trees, Groups: 2}}
	return ensemble.Layout{Shards: 4, Components: components}
}

func settled(n int) (out []lethe.Timestep) {
	for t := range n {
		out = append(out, lethe.Timestep(t+1))
	}
	return out
}

// A network is replayed from the first slice of its shard that changes, over a window that is short at
// the beginning; trees are fitted once, whatever changes.
func TestWorkIsCountedFromTheFirstSliceThatChanges(t *testing.T) {
	w := workOf(layout(), settled(5), []deletions.SliceRef{
		{Timestep: 4, Shard: 0}, {Timestep: 5, Shard: 0}, {Timestep: 1, Shard: 2},
	})
	require.Len(t, w, 2)
	require.Equal(t, Models{
		Model: trainer.Defaults().Model, Groups: 4, Refitted: []int{0, 2}, Checkpoints: 2 + 5, Steps: 12 + 27, longest: 27,
	}, w[0])
	require.Equal(t, 2, w[1].Checkpoints)
	require.Equal(t, 2, w[1].Steps)
	require.Equal(t, 4*5+2, everything(layout(), settled(5)).checkpoints())
	require.Zero(t, everything(layout(), nil).steps())
	require.Zero(t, workOf(layout(), settled(5), nil).steps())
}

// elapsed is an erasure of before that took so long, half of it for the rewriting of a timestep.
func elapsed(took time.Duration, slices ...deletions.SliceRef) deletions.Entry {
	at := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	return deletions.Entry{
		Scope: lethe.ScopeStubs, History: []deletions.Change{
			{State: deletions.Received, At: at}, {State: deletions.Rewriting, At: at},
			{State: deletions.Retraining, At: at.Add(took / 2)}, {State: deletions.Swapped, At: at.Add(took)},
		},
		Progress: deletions.Progress{Slices: slices, Timesteps: []lethe.Timestep{slices[0].Timestep}},
	}
}

// Estimates rest on what was measured: first on nothing, then on trainings, then on erasures.
func TestEstimatesFollowWhatWasMeasured(t *testing.T) {
	plan := coordinator.Plan{Held: []bool{true}, Steps: []coordinator.StepPlan{{
		Replaced: coordinator.Replaced{Timestep: 1, Shards: []lethe.ShardID{2}}, Stubs: 2,
	}}}
	facts := Facts{
		Targets: 1, Scopes: []lethe.Scope{lethe.ScopeStubs, lethe.ScopeShard},
		Plans: map[lethe.Scope]coordinator.Plan{lethe.ScopeStubs: plan}, Settled: settled(10),
	}
	// Ten checkpoints of the network are stored.
	const fixed = defaultBefore + defaultRewriting + defaultPerTimestep + 10*defaultPerStored + defaultAfterRewrite
	pace := NewPace()
	settings := Settings{Layout: layout(), Workers: 1, Rates: pace.Rates()}
	f := Of(facts, settings)
	require.Equal(t, FromDefaults, f.Basis)
	require.Equal(t, string(deletions.RejectedScope), f.Scopes[1].Rejected)
	require.Equal(t, 1, f.Held)

	train := pace.Listener()
	for range 40 {
		train(events.ShardTrained{Model: trainer.Defaults().Model, Duration: 100 * time.Millisecond})
		train(events.ShardTrained{Model: trainer.Trees, Duration: time.Second})
	}
	settings.Rates = pace.Rates()
	f = Of(facts, settings)
	require.Equal(t, FromTraining, f.Basis)
	require.InDelta(t, 10*0.1+1, f.Scopes[0].Processor, 1e-9)
	require.InDelta(t, fixed+2, f.Scopes[0].Seconds, 1e-9)
	require.InDelta(t, 40*0.1+2, f.Scopes[0].Everything.Processor, 1e-9)
	require.Equal(t, "replay", f.Scopes[0].Cheaper)
	settings.Workers = 2
	require.InDelta(t, fixed+1, Of(facts, settings).Scopes[0].Seconds, 1e-9, "one model's steps follow one another")

	settings.Workers = 1
	for range 4 {
		facts.Past = append(facts.Past, elapsed(4*time.Second, deletions.SliceRef{Timestep: 1, Shard: 0}),
			elapsed(2200*time.Millisecond, deletions.SliceRef{Timestep: 10, Shard: 0}))
	}
	f = Of(facts, settings)
	require.Equal(t, FromErasures, f.Basis)
	require.InEpsilon(t, 4, f.Scopes[0].Seconds, 0.15, "about as long as one took that trained as much")
}
