package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"lethe/internal/command"
)

// runLethe runs a command line and returns its exit status and both outputs.
func runLethe(t *testing.T, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, errs bytes.Buffer
	code = program().Execute(&command.App{Context: t.Context(), Stdout: &out, Stderr: &errs}, args)
	return code, out.String(), errs.String()
}

// twoCliques writes a timestep of a clique of six, one of two, and no labels.
func twoCliques(t *testing.T) string {
	t.Helper()
	folder := t.TempDir()
	var features, classes, edges strings.Builder
	classes.WriteString("txId,class\n")
	edges.WriteString("txId1,txId2\n")
	const names = "abcdefgh"
	for i, name := range names {
		features.WriteString(string(name) + ",1,0.5\n")
		classes.WriteString(string(name) + ",unknown\n")
		for _, earlier := range names[:i] {
			if i < 6 || earlier == 'g' {
				edges.WriteString(string(earlier) + "," + string(name) + "\n")
			}
		}
	}
	for name, content := range map[string]string{
		"elliptic_txs_features.csv": features.String(), "elliptic_txs_classes.csv": classes.String(),
		"elliptic_txs_edgelist.csv": edges.String(),
	} {
		require.NoError(t, os.WriteFile(filepath.Join(folder, name), []byte(content), 0o600))
	}
	return folder
}

// Even halves part the six into four and two, which cuts 8 of the 16 edges.
func TestPartitionSlackBuysCut(t *testing.T) {
	folder := twoCliques(t)
	for slack, want := range map[string]partitionStep{
		"0": {EdgeCut: 8.0 / 16, Sizes: []int{4, 4}},
		"2": {EdgeCut: 0, Sizes: []int{2, 6}},
	} {
		code, stdout, stderr := runLethe(t, "partition", "--dataset", folder, "--shards", "2", "--slack", slack, "--json")
		require.Equal(t, command.ExitOK, code, stderr)
		var got partitionResult
		require.NoError(t, json.Unmarshal([]byte(stdout), &got))
		require.InDelta(t, want.EdgeCut, got.EdgeCut, 1e-12, "slack %s", slack)
		require.ElementsMatch(t, want.Sizes, got.Steps[0].Sizes, "slack %s", slack)
	}
}

func TestPartitionFlagsOutOfBounds(t *testing.T) {
	for _, c := range []struct{ flags, want string }{
		{"--shards 0", "--shards is 0, want 1 to 65536"},
		{"--shards 65537", "--shards is 65537, want 1 to 65536"},
		{"--shards 2 --slack=-1", "--slack is -1, want at least 0"},
		{"--shards 2 --slack 1 --refine=false", "--slack 1 without refinement"},
		{"--shards 2 --slack 1 --assign plain", "--slack 1 without refinement"},
		{"--shards 2 --slack 1 --method blpa", "--slack 1 without refinement"},
		{"--shards 2 --sweeps=-3 --alpha=-1 --beta=-2", "--alpha is -1, want a number of at least 0; --sweeps is -3, " +
			"want at least 0; --beta is -2, want a number of at least 0"},
		{"--shards 2 --alpha NaN", "--alpha is NaN"},
		{"--shards 2 --beta Inf", "--beta is +Inf"},
		{"--shards 2 --train-fraction NaN", "--train-fraction is NaN, must be above 0, at most 1"},
		{"--shards 2 --train-fraction 1.5", "--train-fraction is 1.5, must be above 0, at most 1"},
		{"--shards 2 --tune --method random", "--tune with --method random"},
		{"--shards 2 --plot shards.pdf", "--plot shards.pdf must end in .svg or .png"},
		{"--shards two", "expected a valid 64 bit int"},
	} {
		args := append([]string{"partition", "--dataset", "none"}, strings.Fields(c.flags)...)
		code, stdout, stderr := runLethe(t, args...)
		require.Equal(t, command.ExitUsage, code, c.flags)
		require.Empty(t, stdout, c.flags)
		require.Contains(t, stderr, c.want)
	}
}
