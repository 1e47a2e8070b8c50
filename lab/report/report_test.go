package report_test

import (
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
	"github.com/stretchr/testify/require"

	"lethe/lab/report"
)

// A transcript of tables: the first line is the title, the second the columns,
// then rows, with notes after "--".
func TestTables(t *testing.T) {
	datadriven.RunTest(t, "testdata/tables", func(t *testing.T, d *datadriven.TestData) string {
		lines := strings.Split(d.Input, "\n")
		table := &report.Table{Title: lines[0], Columns: strings.Split(lines[1], ";")}
		for _, line := range lines[2:] {
			if note, ok := strings.CutPrefix(line, "-- "); ok {
				table.Note("%s", note)
				continue
			}
			table.Add(strings.Split(line, ";")...)
		}
		var out strings.Builder
		switch d.Cmd {
		case "markdown":
			require.NoError(t, table.Markdown(&out, 2))
		case "csv":
			require.NoError(t, table.CSV(&out))
		default:
			t.Fatalf("no such command %s", d.Cmd)
		}
		return out.String()
	})
}

func TestSamples(t *testing.T) {
	s := report.Sample{.7, .72, .74}
	require.InDelta(t, .72, s.Mean(), 1e-15)
	require.InDelta(t, .02, s.Deviation(), 1e-15)
	require.Equal(t, "72.0±2.0", s.Percent())
	require.Equal(t, "0.72±0.02", s.Text(2))
	require.Equal(t, "70.0", s[:1].Percent())
	require.Equal(t, report.Missing, report.Sample{}.Percent())
	require.Equal(t, report.Missing, report.Sample{math.NaN()}.Text(1))
}

func TestNormalised(t *testing.T) {
	// The paper's SAGE on Cora: 53.68 is 0, 92.73 is 100, 71.33 is 45.2.
	require.InDelta(t, 45.2, report.Normalised(71.33, 53.68, 92.73), .01)
	require.InDelta(t, -24.3, report.Normalised(44.20, 53.68, 92.73), .05)
	require.Equal(t, report.Missing, report.Number(report.Normalised(1, 2, 2), 1))
}

func TestFigures(t *testing.T) {
	f := &report.Figure{Title: "t", X: "x", Y: "y", Lines: []report.Line{
		{Name: "kept", X: []float64{1, 2, 3}, Y: []float64{1, math.NaN(), 2}},
		{Name: "background", X: []float64{1, 2}, Y: []float64{0, 1}, Faint: true},
		{Name: "nothing", X: []float64{1}, Y: []float64{math.NaN()}},
	}}
	for _, ending := range []string{"svg", "png"} {
		path := filepath.Join(t.TempDir(), "figure."+ending)
		require.NoError(t, f.Save(path))
		content, err := os.ReadFile(path)
		require.NoError(t, err)
		switch ending {
		case "svg":
			require.Contains(t, string(content), "kept")
			require.NotContains(t, string(content), "nothing")
		case "png":
			require.Equal(t, "\x89PNG", string(content[:4]))
		}
	}
	require.ErrorContains(t, f.Save(filepath.Join(t.TempDir(), "figure.doc")), "figure.doc")
}
