package demo_test

import (
	"encoding/json"
	"log/slog"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"lethe"
	"lethe/configs"
	"lethe/dataset"
	"lethe/deletions"
	"lethe/demo"
)

func smallDemo(t *testing.T, seed uint64) *demo.Result {
	t.Helper()
	c := configs.Default()
	c.DataDir = t.TempDir()
	c.HTTP.Address = "127.0.0.1:0"
	c.Embedded.Port = 0
	c.Kafka.Partitions = 2
	c.Partition.Shards = 4
	c.Trainer.Hidden = 8
	c.Trainer.Passes = 1
	c.Seed = seed
	options := dataset.GenerateDefaults()
	options.Steps, options.NodesPerStep, options.Features, options.Seed = 6, 80, 10, 1
	stream, err := dataset.Generate(options)
	require.NoError(t, err)
	said, reached := 0, 0
	r, err := demo.Run(t.Context(), demo.Options{
		Config: c, Stream: stream, Version: "test", Progress: func(string, ...any) { said++ },
		Reached: func(string, ...any) { reached++ }, Logger: slog.New(slog.DiscardHandler),
	})
	require.NoError(t, err)
	require.Positive(t, said, "the demo is silent")
	require.Positive(t, reached, "no state of the erasure was told")
	return r
}

func TestDemoReportsEveryFigure(t *testing.T) {
	r := smallDemo(t, 1)
	require.Equal(t, 6, r.Timesteps)
	require.Equal(t, 6*80, r.Transactions)
	require.Equal(t, 5*80-1, r.Predictions, "the first timestep is not scored, the erased transaction is withdrawn")
	require.Equal(t, [2]lethe.Timestep{5, 6}, r.TestTimesteps)
	require.NotNil(t, r.Test.AUC)
	require.Len(t, r.Erasures, 1)
	e := r.Erasures[0]
	require.Equal(t, deletions.Verified, e.State)
	require.True(t, e.ReceiptValid)
	require.Positive(t, e.SlicesReplaced)
	require.Len(t, e.GroupsRefitted, 2)
	require.Equal(t, "trees", e.GroupsRefitted[0].Model)
	require.NotEmpty(t, e.GroupsRefitted[0].Refitted)
	require.NotEqual(t, e.EnsembleBefore, e.EnsembleAfter)
	require.Equal(t, r.EnsembleHash, e.EnsembleAfter)
	require.Equal(t, r.EnsembleHash, r.Audit.EnsembleHash)
	// At the last timestep trees and logistic regression for two groups each, and the model above them.
	require.Equal(t, 2+2+1, r.Audit.FreshCheckpoints)
	require.FileExists(t, e.Receipt)

	encoded, err := json.Marshal(r)
	require.NoError(t, err)
	var fields map[string]any
	require.NoError(t, json.Unmarshal(encoded, &fields))
	for _, name := range []string{"dataset", "timesteps", "transactions", "payments", "predictions", "test", "erasures",
		"ensemble_hash", "data_dir"} {
		require.Contains(t, fields, name)
	}
	_, err = os.Stat(r.DataDir)
	require.NoError(t, err, "the data directory is kept")
}

func TestDemoRepeatsItself(t *testing.T) {
	if testing.Short() {
		t.Skip("three demos; left out of the short run")
	}
	require.Equal(t, smallDemo(t, 1).EnsembleHash, smallDemo(t, 1).EnsembleHash)
	require.NotEqual(t, smallDemo(t, 1).EnsembleHash, smallDemo(t, 2).EnsembleHash)
}
