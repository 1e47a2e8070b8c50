package main

import (
	"flag"
	"io"
	"os"
	"testing"

	"github.com/alecthomas/kong"
	_ "github.com/cockroachdb/datadriven" // for its flag -rewrite
	"github.com/stretchr/testify/require"

	"lethe/internal/command"
)

const commandsPage = "docs/commands.md"

// model returns the commands of the program.
func model(t *testing.T) *kong.Application {
	t.Helper()
	parser, err := program().Parser(&command.App{Stdout: io.Discard, Stderr: io.Discard})
	require.NoError(t, err)
	return parser.Model
}

func TestCommandsPageIsGenerated(t *testing.T) {
	const file = "../../" + commandsPage
	want := command.Markdown(model(t))
	if f := flag.Lookup("rewrite"); f.Value.String() == "true" {
		require.NoError(t, os.WriteFile(file, []byte(want), 0o644))
	}
	have, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Equal(t, want, string(have), "regenerate it with go test ./cmd/lethe -run CommandsPage -rewrite")
}
