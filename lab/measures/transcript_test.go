package measures_test

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
	"github.com/stretchr/testify/require"

	"lethe"
	"lethe/lab/measures"
)

func asJSON(t require.TestingT, v any) string {
	data, err := json.Marshal(v)
	require.NoError(t, err)
	return string(data) + "\n"
}

func TestTranscripts(t *testing.T) {
	datadriven.Walk(t, "testdata", func(t *testing.T, path string) {
		var tally measures.Tally
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			switch d.Cmd {
			case "score":
				return score(t, d, &tally)
			case "summary":
				return summary(t, d, &tally)
			default:
				d.Fatalf(t, "unknown command %q", d.Cmd)
				return ""
			}
		})
	})
}

// score adds lines of "probability label" to the tally.
func score(t *testing.T, d *datadriven.TestData, tally *measures.Tally) string {
	var timestep int64
	d.ScanArgs(t, "timestep", &timestep)
	for line := range strings.Lines(d.Input) {
		field := strings.Fields(line)
		probability, err := strconv.ParseFloat(field[0], 64)
		require.NoError(t, err)
		label, err := lethe.ParseLabel(field[1])
		require.NoError(t, err)
		tally.Add(lethe.Timestep(timestep), probability, label)
	}
	return fmt.Sprintln(tally.Timesteps())
}

func summary(t *testing.T, d *datadriven.TestData, tally *measures.Tally) string {
	var first, last int64
	d.ScanArgs(t, "first", &first)
	d.ScanArgs(t, "last", &last)
	return asJSON(t, tally.Summarise(lethe.Timestep(first), lethe.Timestep(last), 0.5))
}
