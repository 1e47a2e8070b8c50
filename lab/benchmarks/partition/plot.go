package main

import (
	"fmt"
	"image/color"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
)

// drawGrowth draws time and memory over the number of edges, both axes
// logarithmic, with lines that grow in proportion.
func drawGrowth(prefix string, rows []row) error {
	if len(rows) == 0 {
		return nil
	}
	p := plot.New()
	p.Title.Text = "Partition of planted graphs, five edges per node"
	p.X.Label.Text = "nodes"
	p.Y.Label.Text = "processor seconds, peak MiB"
	p.X.Scale, p.Y.Scale = plot.LogScale{}, plot.LogScale{}
	p.X.Tick.Marker, p.Y.Tick.Marker = plot.LogTicks{Prec: -1}, plot.LogTicks{Prec: -1}
	p.Legend.Top, p.Legend.Left = true, true
	seconds, memory, linear := make(plotter.XYs, len(rows)), make(plotter.XYs, len(rows)), make(plotter.XYs, len(rows))
	last := rows[len(rows)-1]
	for i, r := range rows {
		nodes := float64(r.scores.Nodes)
		seconds[i] = plotter.XY{X: nodes, Y: r.processor}
		memory[i] = plotter.XY{X: nodes, Y: r.peakMiB}
		linear[i] = plotter.XY{X: nodes, Y: last.processor * nodes / float64(last.scores.Nodes)}
	}
	for _, series := range []struct {
		name   string
		points plotter.XYs
		colour color.Color
	}{
		{"processor seconds", seconds, color.RGBA{R: 200, A: 255}},
		{"peak MiB", memory, color.RGBA{B: 200, A: 255}},
	} {
		line, dots, err := plotter.NewLinePoints(series.points)
		if err != nil {
			return fmt.Errorf("plot %s: %w", series.name, err)
		}
		line.Color, dots.Color = series.colour, series.colour
		p.Add(line, dots)
		p.Legend.Add(series.name, line, dots)
	}
	line, err := plotter.NewLine(linear)
	if err != nil {
		return fmt.Errorf("plot the line: %w", err)
	}
	line.Dashes = []vg.Length{vg.Points(4), vg.Points(4)}
	p.Add(line)
	p.Legend.Add("in proportion to the nodes", line)
	if err := p.Save(16*vg.Centimeter, 10*vg.Centimeter, prefix+".svg"); err != nil {
		return fmt.Errorf("plot: %w", err)
	}
	return nil
}
