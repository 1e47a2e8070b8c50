package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"path/filepath"
	"regexp"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"lethe/configs"
	"lethe/dataset"
	"lethe/demo"
	"lethe/internal/command"
)

// smallDemo is a demo that takes a few seconds. Components, if there are any, replace those of the default ensemble.
func smallDemo(t *testing.T, components ...string) *demo.Result {
	t.Helper()
	c := configs.Default()
	if len(components) > 0 {
		c.Trainer.Components = components
	}
	c.DataDir, c.HTTP.Address, c.Embedded.Port = t.TempDir(), "127.0.0.1:0", 0
	c.Kafka.Partitions, c.Partition.Shards, c.Trainer.Hidden, c.Trainer.Passes = 2, 4, 8, 1
	options := dataset.GenerateDefaults()
	options.Steps, options.NodesPerStep, options.Features, options.Seed = 6, 80, 10, 1
	stream, err := dataset.Generate(options)
	require.NoError(t, err)
	silent := func(string, ...any) {}
	r, err := demo.Run(t.Context(), demo.Options{
		Config: c, Stream: stream, Version: "test", Progress: silent, Reached: silent,
		Logger: slog.New(slog.DiscardHandler),
	})
	require.NoError(t, err)
	return r
}

// Text and JSON have the same figures: times of the erasure, its cost beside training all models again, and searches.
func TestTheDemoPrintsTimesAndSearches(t *testing.T) {
	r := smallDemo(t)
	var text, document bytes.Buffer
	require.NoError(t, printDemo(&command.App{Context: t.Context(), Stdout: &text}, r, afterwards{}))
	require.NoError(t, (&command.App{Context: t.Context(), Stdout: &document}).PrintJSON(r))
	var said struct {
		Erasures []map[string]any
		Audit    map[string]any
		Seconds  float64 `json:"replay_seconds"`
		CPU      float64 `json:"replay_cpu_seconds"`
	}
	require.NoError(t, json.Unmarshal(document.Bytes(), &said))
	require.Positive(t, said.Seconds)
	require.Positive(t, said.CPU)
	require.Len(t, said.Erasures, 1)
	e := said.Erasures[0]
	last := 0.0
	for _, name := range []string{"seconds_suppressed", "seconds_swapped", "seconds_erased", "seconds_verified"} {
		require.Greater(t, e[name], last, name)
		last = e[name].(float64)
	}
	for _, name := range []string{"cpu_seconds_swapped", "cpu_seconds_retrain_all"} {
		require.Positive(t, e[name], name)
	}
	for _, searched := range []map[string]any{e["searched"].(map[string]any), said.Audit} {
		for _, name := range []string{"files", "bytes", "topics", "records"} {
			require.Positive(t, searched[name], name)
		}
	}

	// What is printed are the same figures.
	number := func(pattern string) (out []float64) {
		found := regexp.MustCompile(pattern).FindStringSubmatch(text.String())
		require.NotNil(t, found, "%s is not in\n%s", pattern, &text)
		for _, figure := range found[1:] {
			f, err := strconv.ParseFloat(figure, 64)
			require.NoError(t, err)
			out = append(out, f)
		}
		return out
	}
	told := number(`no output contained it after (\S+) s; the models had forgotten it after (\S+) s; every copy was ` +
		`rewritten after (\S+) s, and searched after (\S+) s\n`)
	require.InDelta(t, e["seconds_swapped"], told[1], .01)
	require.InDelta(t, e["seconds_verified"], told[3], .01)
	told = number(`  processor time: (\S+) s until the models had forgotten it, (\S+) s to train all models again `)
	require.InDelta(t, e["cpu_seconds_swapped"], told[0], .01)
	require.InDelta(t, e["cpu_seconds_retrain_all"], told[1], .01)
	told = number(`before the receipt was signed: (\d+) files and (\d+) records of (\d+) topics, nothing left\n`)
	first := r.Erasures[0].Searched
	require.Equal(t, []float64{float64(first.Files), float64(first.Records), float64(first.Topics)}, told)
	told = number(`byte-identical; (\d+) files and (\d+) records of (\d+) topics searched again, nothing left\n`)
	require.Equal(t, []float64{float64(r.Audit.Files), float64(r.Audit.Records), float64(r.Audit.Topics)}, told)
	require.Positive(t, r.DataDirBytes)
	require.Contains(t, text.String(), fmt.Sprintf("data directory: %s, %d MB", r.DataDir, r.DataDirBytes/1e6))
	require.Contains(t, text.String(), "(delete it with rm -r "+r.DataDir)
	require.Contains(t, text.String(), "look for it yourself")
	text.Reset()
	require.NoError(t, printDemo(&command.App{Context: t.Context(), Stdout: &text}, r, afterwards{removes: true}))
	require.Contains(t, text.String(), "(removed at the end; lethe demo --keep")
	require.NotContains(t, text.String(), "look for it yourself", "there is nothing to search")
}

// The data directory that the demo makes is removed unless it is to be kept, also when the demo fails.
func TestTheDemoRemovesItsDataDirectory(t *testing.T) {
	for _, keep := range []bool{false, true} {
		t.Run(fmt.Sprintf("keep %t", keep), func(t *testing.T) {
			folder := t.TempDir()
			t.Setenv("TMPDIR", folder)
			ended, end := context.WithCancel(t.Context())
			end()
			c := demoCmd{Keep: keep, Steps: 2}
			err := c.Run(&command.App{Context: ended, Stdout: io.Discard, Stderr: io.Discard, Version: "test"})
			require.ErrorIs(t, err, context.Canceled)
			made, err := filepath.Glob(filepath.Join(folder, "lethe-demo-*"))
			require.NoError(t, err)
			require.Len(t, made, map[bool]int{true: 1}[keep])
		})
	}
}
