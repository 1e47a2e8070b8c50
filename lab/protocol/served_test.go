package protocol

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lethe"
	"lethe/dataset"
	"lethe/scoring"
	"lethe/scoring/ensemble"
	"lethe/trainer"
	"lethe/trainer/kernels"
	"lethe/trainer/models"
)

// What is measured is what is served: the slices of a stream give, on the
// evaluation's way, the models and the probabilities that they give
// on the way of the roles, bit for bit.
func TestMeasuredIsServed(t *testing.T) {
	options := dataset.GenerateDefaults()
	options.Steps, options.NodesPerStep, options.Seed = 4, 60, 5
	stream, err := dataset.Generate(options)
	require.NoError(t, err)
	s := StreamDefaults(models.EllipticGIN, trainer.Continual, StreamSplit{Train: 1, Validation: 1, Test: 2})
	s.Shards, s.Hidden, s.Epochs, s.Seed = 2, 8, 2, 2
	s.Aggregate = []string{AggregateMean}
	run, err := newStreamRun(stream, s, Runtime{Kernels: kernels.Default(), Workers: 2, Now: time.Now})
	require.NoError(t, err)

	run.models, err = newShardModels(run.s.Settings, classesOfStream, run.s.WindowTimesteps, run.s.Schedule, run.r)
	require.NoError(t, err)
	columns := make([][]*lethe.Slice, run.s.Shards)
	for i := range 3 {
		require.NoError(t, run.learn(t.Context(), i, run.s.WindowTimesteps, true))
		for shard, window := range run.windows {
			columns[shard] = append(columns[shard], window[len(window)-1])
		}
	}
	served := ensemble.Runner{
		Engines: []*trainer.Engine{run.models.runner.Engine(0)}, Workers: 1,
	}
	want, err := served.Train(t.Context(), columns)
	require.NoError(t, err)

	got, err := ensemble.Of(run.models.models, nil)
	require.NoError(t, err)
	require.Equal(t, want.Version, got.Version)

	said, err := served.Ask(t.Context(), want.Models, trainer.InputOf(run.steps[3]))
	require.NoError(t, err)
	_, answers, err := run.answer(t.Context(), 3, make([]bool, len(run.steps[3].Nodes)))
	require.NoError(t, err)
	require.Equal(t, scoring.Mean(said.Shards), answers[0])
}
