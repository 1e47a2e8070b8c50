package ensemble_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"lethe"
	"lethe/scoring"
	"lethe/scoring/ensemble"
	"lethe/trainer"
	"lethe/trainer/kernels"
)

const shards = 3

func runner(t *testing.T, workers int) ensemble.Runner {
	t.Helper()
	c := trainer.Defaults()
	c.Hidden, c.Passes, c.Seed, c.WindowTimesteps = 4, 1, 5, 2
	engine, err := trainer.NewEngine(c, kernels.Default())
	require.NoError(t, err)
	return ensemble.Runner{Engines: []*trainer.Engine{engine}, Workers: workers}
}

func columns(timesteps int) [][]*lethe.Slice {
	out := make([][]*lethe.Slice, shards)
	for shard := range out {
		for at := range timesteps {
			d := lethe.NewDraw(1, "test-slice", uint64(shard), uint64(at))
			s := &lethe.Slice{
				Timestep: lethe.Timestep(at), Previous: lethe.Timestep(at - 1), Shard: lethe.ShardID(shard), FeatureCount: 2,
			}
			for i := range 5 {
				s.Nodes = append(s.Nodes, lethe.Pseudonym{byte(i), byte(at), byte(shard)})
				s.Labels = append(s.Labels, lethe.Label(i%3))
				s.Features = append(s.Features, float32(d.Float64()), float32(d.Float64()))
			}
			s.Edges = []lethe.Edge{{A: 0, B: 1}, {A: uint32(shard), B: 4}}
			out[shard] = append(out[shard], s)
		}
	}
	return out
}

// answered trains the columns and asks about a graph.
func answered(t *testing.T, r ensemble.Runner) (*ensemble.Ensemble, []float64) {
	t.Helper()
	trained, err := r.Train(t.Context(), columns(3))
	require.NoError(t, err)
	graph := trainer.Input{
		Rows: 3, Cols: 2, Features: []float32{1, 2, 3, 4, 5, 6}, Edges: []lethe.Edge{{A: 0, B: 1}, {A: 1, B: 2}},
	}
	said, err := r.Ask(t.Context(), trained.Models, graph)
	require.NoError(t, err)
	return trained, ensemble.Illicit(scoring.Mean(said.Shards))
}

// Neither the version nor a probability depends on the number of workers, nor on
// whether the columns are trained at once, as the audit and the attacks do, or
// step by step on windows, as the evaluation and the training role do.
func TestNoWorkerCountAndNoPathReachesAResult(t *testing.T) {
	want, probabilities := answered(t, runner(t, 1))
	got, again := answered(t, runner(t, 4))
	require.Equal(t, want.Version, got.Version)
	require.Equal(t, probabilities, again)

	r := runner(t, 2)
	models := make([]*trainer.Checkpoint, shards)
	for at := range 3 {
		windows := make([][]*lethe.Slice, shards)
		for shard, slices := range columns(3) {
			windows[shard] = slices[max(0, at-1) : at+1]
		}
		steps, err := r.Advance(t.Context(), models, windows)
		require.NoError(t, err)
		for shard := range steps {
			models[shard] = steps[shard].Checkpoint
		}
	}
	stepwise, err := ensemble.Of(models, nil)
	require.NoError(t, err)
	require.Equal(t, want.Version, stepwise.Version)
}

func TestEnsembleFitsItsLineages(t *testing.T) {
	trained, _ := answered(t, runner(t, 2))
	want := make([]lethe.Digest, shards)
	for shard, m := range trained.Models {
		want[shard] = m.Lineage
	}
	require.True(t, trained.Fits(want))
	want[1][0]++
	require.False(t, trained.Fits(want))
}

func TestIncompleteEnsemblesAreRefused(t *testing.T) {
	full, _ := answered(t, runner(t, 1))
	older := *full.Models[1]
	older.Timestep--
	for _, models := range [][]*trainer.Checkpoint{nil, {nil}, {full.Models[0], nil}, {full.Models[0], &older}} {
		_, err := ensemble.Of(models, nil)
		require.ErrorIs(t, err, trainer.ErrIncompatible)
	}
}
