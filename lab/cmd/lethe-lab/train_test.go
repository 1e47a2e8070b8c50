package main

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"lethe/dataset"
	"lethe/internal/command"
	"lethe/lab/graphs"
)

// smallStream writes a generated stream and returns its folder.
func smallStream(t *testing.T) string {
	t.Helper()
	options := dataset.GenerateDefaults()
	options.Steps, options.NodesPerStep, options.Seed = 12, 60, 3
	s, err := dataset.Generate(options)
	require.NoError(t, err)
	folder := filepath.Join(t.TempDir(), "stream")
	require.NoError(t, dataset.WriteElliptic(folder, s, false))
	return folder
}

func TestTrainRefusals(t *testing.T) {
	stream := smallStream(t)
	for _, c := range []struct{ flags, want string }{
		{"--model blend --schedule window", `--schedule is "window", want static or continual for model "blend"`},
		{"--model blend --components logistic,oracle", `--components names "oracle", must be of`},
		{"--model blend --components trees,blend", `--components names "blend", must be of`},
		{"--model blend --components trees,trees", "--components names trees twice"},
		{"--model blend --components logistic,trees --epochs 3", "--components logistic,trees has none"},
		{"--model logistic --components trees", "--components names the models of --model blend, and --model is logistic"},
		{"--model logistic --one-hop-directed", "--one-hop-directed needs --one-hop"},
		{"--model logistic --schedule continual", `--schedule is "continual", want static or window for model "logistic"`},
		{"--model logistic --propagate", "say with --known-labels which share had arrived"},
		{"--model logistic --propagate --known-labels .5 --split 6/0/6", "--split is 6/0/6, want validation timesteps"},
		{"--model logistic --known-labels 1", "--known-labels is 1, want 0 or more, less than 1"},
		{"--model logistic --known-labels NaN", "--known-labels is NaN, want 0 or more, less than 1"},
		{"--model logistic --train-fraction NaN", "--train-fraction is NaN, want 0 or more, less than 1"},
		{"--model logistic --tau NaN", "--tau is NaN, want more than 0, at most 1000"},
		{"--model gin --learning-rate NaN --weight-decay Inf", "--learning-rate is NaN, want 0 to 10; " +
			"--weight-decay is +Inf, want 0 to 10"},
		{"--model logistic --window 0", "--window is 0, want at least 1"},
		{"--model gin --hidden=-1 --workers=-2", "--hidden is -1, want at least 0; --workers is -2, want at least 0"},
		{"--model gin --epochs=-3", "--epochs is -3, want at least 0"},
		{"--model gin --resume kept --curves c.svg", "--resume keeps none: leave one of them out"},
	} {
		args := append([]string{"train", "--dataset", stream, "--shards", "2"}, strings.Fields(c.flags)...)
		code, stdout, stderr := runLethe(t, args...)
		require.Equal(t, command.ExitUsage, code, c.flags)
		require.Empty(t, stdout, c.flags)
		require.Contains(t, stderr, c.want)
	}
}

func TestTrainRefusesForGraphsWhatIsForStreams(t *testing.T) {
	for want, c := range map[string]*trainCmd{
		"--model blend is for streams":                              {Model: "blend"},
		"--model logistic is for streams":                           {Model: "logistic"},
		"--one-hop and --one-hop-directed are for streams":          {Model: "sage", OneHopDirected: true},
		"--known-labels is for streams":                             {Model: "sage", Propagate: true, KnownLabels: .5},
		"--components names the models of --model blend":            {Model: "sage", Components: []string{"gin"}},
		"--split and --schedule need timesteps, and g.npz has none": {Model: "sage", Split: "1/1/1"},
	} {
		c.Dataset, c.Shards, c.Tau, c.Schedule = "g.npz", 2, 1, "static"
		require.ErrorContains(t, c.check(graphs.CitationArchive), want)
	}
}

func TestTrainNamesItsBlend(t *testing.T) {
	args := []string{
		"train", "--dataset", smallStream(t), "--shards", "2", "--model", "blend", "--components", "logistic,trees",
		"--split", "8/1/3", "--one-hop", "--one-hop-directed", "--known-labels", ".4", "--propagate",
	}
	code, stdout, stderr := runLethe(t, args...)
	require.Equal(t, command.ExitOK, code, stderr)
	require.Contains(t, stdout, "blend of logistic, trees, directed one-hop features, 2 shards by gpfb-fast")
	require.Contains(t, stdout, "0.4 of every timestep's labels had arrived")
	require.Contains(t, stdout, "without propagation: accuracy")

	code, stdout, stderr = runLethe(t, append(args, "--json")...)
	require.Equal(t, command.ExitOK, code, stderr)
	var result trainResult
	require.NoError(t, json.Unmarshal([]byte(stdout), &result))
	require.Equal(t, []string{"logistic", "trees"}, result.Components)
	require.Equal(t, "directed", result.OneHop)
	require.Equal(t, result.Test.Labelled, result.Unpropagated.Labelled)
	require.Equal(t, result.Test.Labelled, result.Unlabelled.Labelled)
}

// A run that finds its shards trained says so, counts their steps and ends with the same result.
func TestTrainResumes(t *testing.T) {
	args := []string{
		"train", "--dataset", smallStream(t), "--shards", "2", "--model", "elliptic-gin", "--hidden", "8", "--epochs", "2",
		"--json",
	}
	result := func(args ...string) (r trainResult, progress string) {
		code, stdout, stderr := runLethe(t, args...)
		require.Equal(t, command.ExitOK, code, stderr)
		require.NoError(t, json.Unmarshal([]byte(stdout), &r))
		r.PartitionSeconds, r.TrainSeconds, r.StepsPerSecond = 0, 0, 0
		return r, stderr
	}
	want, _ := result(args...)
	args = append(args, "--resume", t.TempDir())
	for _, kept := range []bool{false, true} {
		got, progress := result(args...)
		require.Equal(t, want, got)
		require.Equal(t, kept, strings.Contains(progress, "2 of 2 shards were trained before"), progress)
		require.Contains(t, progress, "36 steps of 2 shards")
	}
}
