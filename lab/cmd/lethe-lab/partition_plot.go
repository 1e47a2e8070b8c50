package main

import (
	"fmt"
	"image/color"
	"io"
	"math"
	"path/filepath"
	"slices"
	"strings"

	"lethe/internal/atomicfile"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
	"gonum.org/v1/plot/vg/vgsvg"
)

const (
	plotWidth, plotHeight = 24 * vg.Centimeter, 10 * vg.Centimeter
	plotMargin            = 4 * vg.Millimeter
	// sizeBin is the width of a bar, as a share of an even shard.
	sizeBin = 0.05
)

// The colours of the panels.
func plotBlue() color.Color  { return color.RGBA{R: 0x3b, G: 0x6e, B: 0xa8, A: 0xff} }
func plotPale() color.Color  { return color.RGBA{R: 0xc9, G: 0xda, B: 0xec, A: 0xff} }
func plotRed() color.Color   { return color.RGBA{R: 0xb8, G: 0x3a, B: 0x3a, A: 0xff} }
func plotFaint() color.Color { return color.Gray{Y: 0xe4} }

// plotFormat reports whether the file name ends in a format that can be drawn.
func plotFormat(path string) bool {
	ext := strings.ToLower(filepath.Ext(path))
	return ext == ".svg" || ext == ".png"
}

// plotShards draws two panels over all shards of all timesteps: the distribution
// of shard sizes, and how each class spreads. Both are relative to an even share,
// so that graphs of different sizes fit into one picture.
func plotShards(path string, steps []partitionStep, className func(int) string) error {
	classes, err := classPanel(steps, className)
	if err != nil {
		return fmt.Errorf("plot classes: %w", err)
	}
	canvas := newPlotCanvas(path)
	tiles := draw.Tiles{
		Rows: 1, Cols: 2, PadX: 2 * plotMargin,
		PadTop: plotMargin, PadBottom: plotMargin, PadLeft: plotMargin, PadRight: plotMargin,
	}
	panels := [][]*plot.Plot{{sizePanel(steps), classes}}
	for i, c := range plot.Align(panels, tiles, draw.New(canvas))[0] {
		panels[0][i].Draw(c)
	}
	err = atomicfile.WriteFrom(path, 0o666, func(w io.Writer) error {
		_, err := canvas.WriteTo(w)
		return err
	})
	if err != nil {
		return fmt.Errorf("plot %s: %w", path, err)
	}
	return nil
}

// plotCanvas is what both formats draw on.
type plotCanvas interface {
	vg.CanvasSizer
	io.WriterTo
}

func newPlotCanvas(path string) plotCanvas {
	if strings.EqualFold(filepath.Ext(path), ".svg") {
		return vgsvg.New(plotWidth, plotHeight)
	}
	return vgimg.PngCanvas{Canvas: vgimg.NewWith(vgimg.UseWH(plotWidth, plotHeight), vgimg.UseDPI(144))}
}

// relative returns count over an even share of total.
func relative(count, total, shards int) float64 {
	return float64(count) * float64(shards) / float64(total)
}

func sizePanel(steps []partitionStep) *plot.Plot {
	var values plotter.Values
	for _, s := range steps {
		for _, size := range s.Sizes {
			if s.Nodes > 0 {
				values = append(values, relative(size, s.Nodes, len(s.Sizes)))
			}
		}
	}
	p := newPanel("Shard sizes", "nodes / even share", "shards")
	if len(values) == 0 {
		return p
	}
	h := sizeHistogram(values)
	h.FillColor, h.Color, h.LineStyle.Width = plotBlue(), color.White, vg.Points(0.5)
	p.Add(h)
	// Wide enough for even shards to look even.
	low, high, _, top := h.DataRange()
	p.X.Min, p.X.Max = min(0.5, low), max(1.5, high)
	p.Y.Min, p.Y.Max = 0, 1.05*top
	p.Add(evenLine(plotter.XYs{{X: 1, Y: 0}, {X: 1, Y: p.Y.Max}}))
	return p
}

// sizeHistogram counts values in bars of one width, one of which is centred on 1.
func sizeHistogram(values plotter.Values) *plotter.Histogram {
	bin := func(x float64) int { return int(math.Round((x - 1) / sizeBin)) }
	first, last := bin(slices.Min(values)), bin(slices.Max(values))
	h := &plotter.Histogram{Bins: make([]plotter.HistogramBin, last-first+1), Width: sizeBin}
	for k := range h.Bins {
		centre := 1 + float64(first+k)*sizeBin
		h.Bins[k].Min, h.Bins[k].Max = centre-sizeBin/2, centre+sizeBin/2
	}
	for _, x := range values {
		h.Bins[bin(x)-first].Weight++
	}
	return h
}

func classPanel(steps []partitionStep, className func(int) string) (*plot.Plot, error) {
	p := newPanel("Spread of classes over shards", "class", "nodes of the class / even share")
	var names []string
	for class := 0; ; class++ {
		values, exists := classValues(steps, class)
		if !exists {
			break
		}
		names = append(names, className(class))
		if len(values) == 0 {
			continue
		}
		box, err := plotter.NewBoxPlot(vg.Points(22), float64(class), values)
		if err != nil {
			return nil, err
		}
		box.FillColor, box.BoxStyle.Color, box.MedianStyle.Color = plotPale(), plotBlue(), plotBlue()
		box.WhiskerStyle.Color, box.GlyphStyle.Color, box.GlyphStyle.Radius = plotBlue(), plotBlue(), vg.Points(1.5)
		box.WhiskerStyle.Dashes = nil
		p.Add(box)
	}
	if len(names) == 0 {
		return p, nil
	}
	p.NominalX(names...)
	p.X.Min, p.X.Max = -0.6, float64(len(names))-0.4
	p.Y.Min, p.Y.Max = 0, max(2, p.Y.Max)
	p.Add(evenLine(plotter.XYs{{X: p.X.Min, Y: 1}, {X: p.X.Max, Y: 1}}))
	return p, nil
}

// classValues returns the relative count of a class in every shard of the steps
// that have it, and whether there is such a class at all.
func classValues(steps []partitionStep, class int) (values plotter.Values, exists bool) {
	for _, s := range steps {
		total := 0
		for _, counts := range s.ClassCounts {
			if class < len(counts) {
				exists = true
				total += counts[class]
			}
		}
		for _, counts := range s.ClassCounts {
			if total > 0 {
				values = append(values, relative(counts[class], total, len(s.ClassCounts)))
			}
		}
	}
	return values, exists
}

func newPanel(title, x, y string) *plot.Plot {
	p := plot.New()
	p.Title.Text, p.X.Label.Text, p.Y.Label.Text = title, x, y
	p.Title.Padding = vg.Points(6)
	for _, style := range []*draw.TextStyle{
		&p.Title.TextStyle, &p.X.Label.TextStyle, &p.Y.Label.TextStyle, &p.X.Tick.Label, &p.Y.Tick.Label,
	} {
		style.Font.Variant = "Sans"
	}
	grid := plotter.NewGrid()
	grid.Vertical.Width, grid.Horizontal.Color = 0, plotFaint()
	p.Add(grid)
	return p
}

// evenLine marks an even share.
func evenLine(points plotter.XYs) *plotter.Line {
	return &plotter.Line{XYs: points, LineStyle: draw.LineStyle{
		Color: plotRed(), Width: vg.Points(1), Dashes: []vg.Length{vg.Points(4), vg.Points(3)},
	}}
}
