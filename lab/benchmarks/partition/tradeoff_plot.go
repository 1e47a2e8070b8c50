package main

import (
	"errors"
	"fmt"
	"image/color"
	"os"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/plotutil"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// panelColumns is how many panels lie side by side.
const panelColumns = 2

// drawPanels draws quality over the shards that an erasure reaches, a panel per
// subject and a line per minimum number of stubs. The points of a line are the
// ways to cut; the dashed level is one model on everything.
func drawPanels(prefix string, panels []panel, minStubs []int) error {
	rows := (len(panels) + panelColumns - 1) / panelColumns
	grid := make([][]*plot.Plot, rows)
	for i := range grid {
		grid[i] = make([]*plot.Plot, panelColumns)
	}
	for i := range panels {
		p, err := panels[i].plot(minStubs, i == 0)
		if err != nil {
			return fmt.Errorf("plot of %s: %w", panels[i].title(), err)
		}
		grid[i/panelColumns][i%panelColumns] = p
	}
	if err := saveGrid(prefix+".svg", grid); err != nil {
		return fmt.Errorf("plot: %w", err)
	}
	return nil
}

func saveGrid(path string, grid [][]*plot.Plot) error {
	width, height := 12*panelColumns*vg.Centimeter, vg.Length(9*len(grid))*vg.Centimeter
	canvas, err := draw.NewFormattedCanvas(width, height, "svg")
	if err != nil {
		return err
	}
	tiles := draw.Tiles{
		Rows: len(grid), Cols: panelColumns,
		PadX: 5 * vg.Millimeter, PadY: 5 * vg.Millimeter, PadRight: 2 * vg.Millimeter,
	}
	for i, row := range plot.Align(grid, tiles, draw.New(canvas)) {
		for j, tile := range row {
			if grid[i][j] != nil {
				grid[i][j].Draw(tile)
			}
		}
	}
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	_, err = canvas.WriteTo(f)
	return errors.Join(err, f.Close())
}

func (p *panel) plot(minStubs []int, legend bool) (*plot.Plot, error) {
	out := plot.New()
	out.Title.Text = p.title()
	out.X.Label.Text, out.Y.Label.Text = "shards per erasure at scope stubs", p.measure.name
	grid := plotter.NewGrid()
	grid.Vertical.Color, grid.Horizontal.Color = color.Gray{Y: 225}, color.Gray{Y: 225}
	out.Add(grid)
	level := make(plotter.XYs, len(p.rows))
	for k := range minStubs {
		points := make(plotter.XYs, len(p.rows))
		for i, r := range p.rows {
			points[i] = plotter.XY{X: r.shards.Mean(), Y: r.quality[k].Mean()}
			level[i] = plotter.XY{X: r.shards.Mean(), Y: p.unsharded.Mean()}
		}
		line, marks, err := plotter.NewLinePoints(points)
		if err != nil {
			return nil, err
		}
		line.Color, line.Width = plotutil.SoftColors[k%len(plotutil.SoftColors)], vg.Points(1.6)
		marks.Color, marks.Shape = line.Color, plotutil.Shape(k)
		out.Add(line, marks)
		if legend {
			out.Legend.Add(fmt.Sprintf("min stubs %d", minStubs[k]), line, marks)
		}
	}
	line, err := plotter.NewLine(level)
	if err != nil {
		return nil, err
	}
	line.Dashes = []vg.Length{vg.Points(4), vg.Points(4)}
	out.Add(line)
	if legend {
		out.Legend.Add("no shards", line)
		out.Legend.Padding = vg.Points(2)
	}
	return out, nil
}
