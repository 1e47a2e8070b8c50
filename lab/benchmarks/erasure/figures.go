package main

import (
	"cmp"
	"path/filepath"
	"slices"

	"lethe/lab/report"
)

// drawFigures draws shards, seconds and processor seconds against the number of requests
// that come together, and against the age of what is erased, for both scopes.
func drawFigures(folder string, rows []row) error {
	for _, figure := range []struct {
		name, title, x string
		logX           bool
		belongs        func(row) bool
		at             func(row) float64
	}{
		{
			"erasure-batch.svg", "Requests that come together", "requests", true,
			func(r row) bool { return r.Age < 0 }, func(r row) float64 { return float64(r.Together) },
		},
		{
			"erasure-age.svg", "Age of what is erased", "timesteps before the newest", false,
			func(r row) bool { return r.Age >= 0 && r.Together == 1 }, func(r row) float64 { return float64(r.Age) },
		},
	} {
		chosen := slices.DeleteFunc(groups(rows), func(g group) bool { return !figure.belongs(g[0]) })
		slices.SortStableFunc(chosen, func(a, b group) int { return cmp.Compare(figure.at(a[0]), figure.at(b[0])) })
		f := &report.Figure{
			Title: figure.title, X: figure.x, Y: "seconds to swapped; shards", LogX: figure.logX,
			Lines: lines(chosen, figure.at),
		}
		if len(f.Lines) == 0 {
			continue
		}
		if err := f.Save(filepath.Join(folder, figure.name)); err != nil {
			return err
		}
	}
	return nil
}

// lines are the medians of each scope on the data that most of the groups are about.
func lines(groups []group, at func(row) float64) (out []report.Line) {
	count := make(map[string]int)
	most := ""
	for _, g := range groups {
		if count[g[0].Data]++; count[g[0].Data] > count[most] {
			most = g[0].Data
		}
	}
	for _, scope := range []string{"stubs", "shard"} {
		for _, measure := range []struct {
			name string
			of   func(row) float64
		}{
			{"seconds", func(r row) float64 { return r.Swapped }},
			{"processor seconds", func(r row) float64 { return r.ProcessorSwapped }},
			{"shards", func(r row) float64 { return float64(r.Shards) }},
		} {
			line := report.Line{Name: measure.name + ", " + scope}
			for _, g := range groups {
				if g[0].Data == most && g[0].Scope == scope && g[0].Targets == 1 {
					line.X, line.Y = append(line.X, at(g[0])), append(line.Y, g.median(measure.of))
				}
			}
			if len(line.X) > 0 {
				out = append(out, line)
			}
		}
	}
	return out
}
