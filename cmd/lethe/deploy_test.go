package main

import (
	"os"
	"strings"
	"testing"

	"github.com/alecthomas/kong"
	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"

	"lethe/internal/command"
)

// parse fails unless a command line is one of lethe's.
func parse(t *testing.T, args []string, where string) {
	t.Helper()
	parser, err := kong.New(&cli{}, kong.Name("lethe"), vars(), command.SharedHelp(), kong.Exit(func(int) {}))
	require.NoError(t, err)
	_, err = parser.Parse(args)
	require.NoError(t, err, "%s: lethe %s", where, strings.Join(args, " "))
}

// What the compose file starts, the demo's stream included, are commands of lethe.
func TestComposeStartsWhatIsThere(t *testing.T) {
	text, err := os.ReadFile("../../docker-compose.yml")
	require.NoError(t, err)
	var file struct {
		Services map[string]struct {
			Image    string
			Command  []string
			Profiles []string
			Volumes  []string
		}
	}
	require.NoError(t, yaml.Unmarshal(text, &file))
	checked, profiled := 0, 0
	for name, s := range file.Services {
		if s.Image != "lethe:local" {
			continue
		}
		parse(t, s.Command, name)
		checked++
		for _, profile := range s.Profiles {
			require.Equal(t, "demo", profile)
			profiled++
		}
	}
	require.Equal(t, 3, checked)
	require.Equal(t, 2, profiled, "the stream and who publishes it")
	broker := file.Services["lethe"].Command[2]
	require.Contains(t, file.Services["demo"].Command, broker, "the demo publishes where lethe reads")
	require.Contains(t, file.Services["demo"].Volumes, "demo-stream:/data:ro")
	require.Contains(t, file.Services["demo-stream"].Volumes, "demo-stream:/data")
}
