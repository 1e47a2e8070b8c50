package command_test

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
	"github.com/stretchr/testify/require"

	"lethe/internal/command"
)

// cli has a command for every way to end.
type cli struct {
	Works workCmd  `cmd:"" help:"Print a table of ${count} rows."`
	Fails failCmd  `cmd:"" help:"Fail."`
	Usage usageCmd `cmd:"" help:"Refuse its flags."`
}

type workCmd struct {
	JSON bool `help:"Print one JSON document."`
}

func (c *workCmd) Run(a *command.App) error {
	command.NewProgress(a.Stderr).Done("done")
	if c.JSON {
		return a.PrintJSON(map[string]string{"version": a.Version, "sign": "a<b"})
	}
	half := .5
	return command.Table(a.Stdout, [][]string{
		{"name", "value"}, {"gin", command.OrDash(&half)}, {"longer", command.OrDash(nil)},
	})
}

type failCmd struct{}

func (failCmd) Run(*command.App) error {
	return errors.Join(errors.New("one thing"), errors.New("another"))
}

type usageCmd struct {
	command.ConfigFlags
}

func (c *usageCmd) Run(a *command.App) error {
	config, err := c.Load(a, nil)
	if err != nil {
		return fmt.Errorf("wrapped: %w", err)
	}
	return command.Usagef("%d shards, hidden %d", config.Partition.Shards, config.Trainer.Hidden)
}

// TestExecute runs command lines; progress is shown without its time.
func TestExecute(t *testing.T) {
	datadriven.RunTest(t, "testdata/execute", func(t *testing.T, d *datadriven.TestData) string {
		var stdout, stderr bytes.Buffer
		p := command.Program{
			Name: "prog", Description: "Ends in every way.", Commands: &cli{}, Vars: map[string]string{"count": "two"},
			Elsewhere: map[string]string{"other": "elsewhere"},
		}
		a := &command.App{
			Context: t.Context(), Stdout: &stdout, Stderr: &stderr, Version: "v1",
			Environ: []string{"LETHE_PARTITION_SHARDS=3"},
		}
		code := p.Execute(a, strings.Fields(d.Input))
		said := strings.ReplaceAll(stderr.String(), "[  0.0s]", "[time]")
		return fmt.Sprintf("exit %d\nstdout:\n%sstderr:\n%s", code, strings.ReplaceAll(stdout.String(), "\n\n", "\n.\n"),
			said)
	})
}

// A shell that asks is told the words that may follow, and nothing is run.
func TestAShellIsToldWhatMayFollow(t *testing.T) {
	for line, want := range map[string]string{
		"prog ": "works fails usage", "prog wo": "works", "prog works --j": "--json",
	} {
		t.Setenv("COMP_LINE", line)
		t.Setenv("COMP_POINT", strconv.Itoa(len(line)))
		var stdout, stderr bytes.Buffer
		p := command.Program{
			Name: "prog", Description: "Ends in every way.", Commands: &cli{}, Vars: map[string]string{"count": "two"},
		}
		words := strings.Fields(line)
		code := p.Execute(&command.App{Context: t.Context(), Stdout: &stdout, Stderr: &stderr}, words)
		require.Equal(t, command.ExitOK, code)
		require.Empty(t, stderr.String())
		require.ElementsMatch(t, strings.Fields(want), strings.Fields(stdout.String()), line)
	}
}
