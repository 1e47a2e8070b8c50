package main

import (
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"

	"lethe/lab/report"
	"lethe/lab/tables"
)

// Every figure that the document of all tables links lies where the link leads.
func TestDocumentLinksItsFigures(t *testing.T) {
	line := report.Line{Name: "a", X: []float64{1, 2}, Y: []float64{3, 4}}
	figure := &report.Figure{Title: "Times", X: "nodes", Y: "seconds", Lines: []report.Line{line}}
	d := (&evaluateCmd{Table: "all", Splits: paperSplits}).document()
	d.add(&tables.Output{
		Tables:  []*report.Table{{Title: "Times", Columns: []string{"nodes"}}},
		Figures: []tables.NamedFigure{{Name: "Cora", Figure: figure}, {Name: "CiteSeer", Figure: figure}},
	}, "times")
	d.missing("sizes")
	dir := t.TempDir()
	require.NoError(t, d.save(filepath.Join(dir, "results.md")))
	text, err := os.ReadFile(filepath.Join(dir, "results.md"))
	require.NoError(t, err)
	links := regexp.MustCompile(`!\[Times\]\((.+)\)`).FindAllSubmatch(text, -1)
	require.Len(t, links, 2)
	for _, link := range links {
		require.FileExists(t, filepath.Join(dir, string(link[1])))
	}
	require.Contains(t, string(text), "Not run yet: sizes.")
}
