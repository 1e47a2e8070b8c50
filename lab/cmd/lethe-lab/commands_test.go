package main

import (
	"flag"
	"io"
	"os"
	"testing"

	_ "github.com/cockroachdb/datadriven" // for its flag -rewrite
	"github.com/stretchr/testify/require"

	"lethe/internal/command"
)

func TestCommandsPageIsGenerated(t *testing.T) {
	const file = "../../../docs/commands-lab.md"
	parser, err := program().Parser(&command.App{Stdout: io.Discard, Stderr: io.Discard})
	require.NoError(t, err)
	want := command.Markdown(parser.Model)
	if f := flag.Lookup("rewrite"); f.Value.String() == "true" {
		require.NoError(t, os.WriteFile(file, []byte(want), 0o644))
	}
	have, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Equal(t, want, string(have), "regenerate it with go test ./lab/cmd/lethe-lab -run CommandsPage -rewrite")
}
