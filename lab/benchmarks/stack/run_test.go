package main

import (
	"bytes"
	"encoding/json"
	"io/fs"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"lethe"
	"lethe/dataset"
	"lethe/partition"
	"lethe/scoring/decision"
)

// generated writes a small stream and returns its folder.
func generated(t *testing.T) string {
	t.Helper()
	options := dataset.GenerateDefaults()
	options.Steps, options.NodesPerStep, options.Features, options.Seed = 7, 120, 6, 5
	stream, err := dataset.Generate(options)
	require.NoError(t, err)
	folder := t.TempDir()
	require.NoError(t, dataset.WriteElliptic(folder, stream, false))
	return folder
}

func small(folder string) *cli {
	return &cli{
		Dataset: folder, Shards: 4, Window: 3, From: 5, To: 7, Calibrate: "platt", Pull: 20, Budget: 10, Seed: 1,
		Method: partition.Defaults().Method, Refine: true,
		Components: []string{"elliptic-gin:4:raw:hidden=8,trees:2:rounds=20,logistic:2", "trees:2:rounds=20,logistic:2"},
	}
}

func measured(t *testing.T, folder string, change func(*run)) document {
	t.Helper()
	return measuredWith(t, small(folder), change)
}

func measuredWith(t *testing.T, c *cli, change func(*run)) document {
	t.Helper()
	rule, err := decision.ParseRule("auto")
	require.NoError(t, err)
	r, err := newRun(t.Context(), c, rule)
	require.NoError(t, err)
	if change != nil {
		change(r)
	}
	require.NoError(t, r.through(t.Context()))
	d := r.report()
	for i := range d.Costs {
		require.Positive(t, d.Costs[i].Total)
		d.Costs[i].LastTimestep, d.Costs[i].Group, d.Costs[i].Total = 0, 0, 0
	}
	return d
}

func TestRunIsDeterministicAndPrinted(t *testing.T) {
	folder := generated(t)
	d := measured(t, folder, nil)
	require.Equal(t, d, measured(t, folder, nil))
	require.Len(t, d.Figures, 3+2*2)
	require.Greater(t, *d.Figures[4].AUC, .6)

	var table, document bytes.Buffer
	require.NoError(t, writeTables(&table, d))
	require.Contains(t, table.String(), "Timesteps 5 to 7, 4 shards.")
	require.Contains(t, table.String(), "| stack 2 of trees:2:rounds=20, logistic:2 |")
	require.Equal(t, 2+7+2+3, strings.Count(table.String(), "\n|"))
	require.NoError(t, writeJSON(&document, d))
	var back map[string]any
	require.NoError(t, json.Unmarshal(document.Bytes(), &back))
	require.Len(t, back["figures"], 7)
	require.Len(t, back["costs"], 3)
}

// What a timestep is scored with has not met its labels: those of the last one
// change no combination, those of the one before do.
func TestLabelsAreLearntFromOnceTheyAreScored(t *testing.T) {
	folder := generated(t)
	flip := func(at int) func(*run) {
		return func(r *run) {
			labels := r.steps[at].labels
			for i, label := range labels {
				if label != lethe.Unknown {
					labels[i] = lethe.Licit + lethe.Illicit - label
				}
			}
		}
	}
	before := measured(t, folder, nil)
	last, earlier := measured(t, folder, flip(6)), measured(t, folder, flip(5))
	for i, f := range before.Figures {
		require.Equal(t, f.Digest, last.Figures[i].Digest)
		require.NotEqual(t, f.Digest, earlier.Figures[i].Digest)
	}
	require.NotEqual(t, before.Figures[0].AUC, last.Figures[0].AUC)
}

// Without shards the combination is learnt as ever, and what is scored by it has learnt
// from everything.
func TestWholeModelsAreAskedInPlaceOfGroups(t *testing.T) {
	c := small(generated(t))
	parted := measuredWith(t, c, nil)
	c.Whole = true
	whole := measuredWith(t, c, nil)
	for i, f := range parted.Figures {
		require.Equal(t, f.Digest, whole.Figures[i].Digest)
		require.NotEqual(t, f.AUC, whole.Figures[i].AUC, f.Name)
	}
	require.Len(t, whole.Costs, 6)
	require.Equal(t, "trees:2:rounds=20, whole", whole.Costs[4].Name)
	require.Equal(t, 1, whole.Costs[4].Groups)

	// A drawn partition cuts more edges, so that an erasure reaches more groups.
	c.Whole, c.Method, c.Refine = false, partition.MethodRandom, false
	drawn := measuredWith(t, c, nil)
	require.Greater(t, drawn.Costs[1].Touched, 1.2*parted.Costs[1].Touched)
}

func TestRefusals(t *testing.T) {
	folder := generated(t)
	for want, c := range map[string]cli{
		"want from at least 2":        {From: 1, To: 3, Window: 3},
		"7 timesteps, want 9":         {From: 2, To: 9, Window: 3, Components: []string{"trees:2"}},
		`component "oak:2"`:           {From: 2, To: 3, Window: 3, Components: []string{"oak:2"}},
		"leaves is 1":                 {From: 2, To: 3, Window: 3, Components: []string{"trees:2:leaves=1"}},
		dataset.ErrNotDataset.Error(): {Dataset: os.TempDir(), From: 2, To: 3, Window: 3, Components: []string{"trees:2"}},
	} {
		if c.Dataset == "" {
			c.Dataset = folder
		}
		c.Shards = 4
		_, err := newRun(t.Context(), &c, decision.Rule{})
		require.ErrorContains(t, err, want)
		require.NotErrorIs(t, err, fs.ErrPermission)
	}
}
