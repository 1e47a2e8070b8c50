package main

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"lethe/dataset"
	"lethe/internal/command"
)

// TestReplayAndDemo_RowThatIntakeRejects_NamedBeforeAnythingIsPublished reaches no broker: there is none.
func TestReplayAndDemo_RowThatIntakeRejects_NamedBeforeAnythingIsPublished(t *testing.T) {
	for want, row := range map[string]string{
		"row 2, column 1: the id is not 1 to 256 bytes of printable": "!b,1,0.5",
		"row 2, column 3: the value is beyond ±1e+06":                "b,1,1e7",
		"row 2, column 3: the value is not a number":                 "b,1,1_000",
		"row 2, column 2: the timestep is more than 1000":            "b,1700000000,1",
		"row 2: 4 columns, want 3":                                   "b,1,0.5,",
	} {
		dir := t.TempDir()
		for name, text := range map[string]string{
			dataset.FeaturesFile: "a,1,0.5\n" + row + "\n", dataset.EdgesFile: "txId1,txId2\n",
			dataset.ClassesFile: "txId,class\na,1\nb,2\n",
		} {
			require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
		}
		for _, args := range [][]string{
			{"replay", "--dataset", dir, "--brokers", "127.0.0.1:1"},
			{"demo", "--dataset", dir, "--data-dir", filepath.Join(dir, "d")},
		} {
			var errs bytes.Buffer
			status := program().Execute(&command.App{Context: t.Context(), Stdout: new(bytes.Buffer), Stderr: &errs}, args)
			require.NotZero(t, status)
			require.Contains(t, errs.String(), dataset.FeaturesFile+": "+want)
		}
	}
}
