package report

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
	"gonum.org/v1/plot/plotutil"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Figure is a chart of lines.
type Figure struct {
	Title, X, Y string
	Lines       []Line
	// LogX draws the horizontal axis in powers of ten.
	LogX bool
	// Bare leaves out the points on the lines, for lines of very many.
	Bare bool
}

// Line is one named curve. Points that are not numbers are left out.
type Line struct {
	Name string
	X, Y []float64
	// Faint draws it thin, grey and without a name, as background.
	Faint bool
}

// The size of a saved figure without its legend, and the space before that.
const (
	figureWidth  = 18 * vg.Centimeter
	figureHeight = 11 * vg.Centimeter
	legendSpace  = 4 * vg.Millimeter
)

// Save writes the figure in the format of the file's ending, .svg or .png among
// others. The error names the file.
func (f *Figure) Save(path string) error {
	p, err := f.plot()
	if err == nil {
		err = save(p, path)
	}
	if err != nil {
		return fmt.Errorf("figure %s: %w", filepath.Base(path), err)
	}
	return nil
}

// save draws the legend at the side of the plot, where it hides no line.
func save(p *plot.Plot, path string) error {
	legend := p.Legend
	p.Legend = plot.NewLegend()
	beside := legendSpace + legend.Rectangle(draw.Canvas{}).Size().X
	whole, err := draw.NewFormattedCanvas(figureWidth+beside, figureHeight, strings.TrimPrefix(filepath.Ext(path), "."))
	if err != nil {
		return err
	}
	canvas := draw.New(whole)
	p.Draw(draw.Crop(canvas, 0, -beside, 0, 0))
	legend.Draw(draw.Crop(canvas, figureWidth+legendSpace, 0, 0, 0))
	return atomicfile.WriteFrom(path, 0o644, func(w io.Writer) error {
		_, err := whole.WriteTo(w)
		return err
	})
}

func (f *Figure) plot() (*plot.Plot, error) {
	p := plot.New()
	p.Title.Text, p.X.Label.Text, p.Y.Label.Text = f.Title, f.X, f.Y
	p.Title.Padding = vg.Points(8)
	p.Legend.Top, p.Legend.Left = true, true
	p.Legend.Padding = vg.Points(2)
	if f.LogX {
		p.X.Scale, p.X.Tick.Marker = plot.LogScale{}, plot.LogTicks{}
	}
	grid := plotter.NewGrid()
	grid.Vertical.Color, grid.Horizontal.Color = color.Gray{Y: 225}, color.Gray{Y: 225}
	p.Add(grid)
	named := 0
	// Background first, so that it stays behind.
	lines := slices.Clone(f.Lines)
	slices.SortStableFunc(lines, func(a, b Line) int { return rank(a) - rank(b) })
	for _, l := range lines {
		points := l.points()
		if len(points) == 0 {
			continue
		}
		line, marks, err := plotter.NewLinePoints(points)
		if err != nil {
			return nil, fmt.Errorf("line %s: %w", l.Name, err)
		}
		if l.Faint {
			line.Color, line.Width = color.Gray{Y: 190}, vg.Points(0.6)
			p.Add(line)
			continue
		}
		line.Color, line.Width = plotutil.SoftColors[named%len(plotutil.SoftColors)], vg.Points(1.6)
		line.Dashes = plotutil.Dashes(named / len(plotutil.SoftColors))
		marks.Color, marks.Shape = line.Color, plotutil.Shape(named)
		named++
		p.Add(line)
		if f.Bare {
			p.Legend.Add(l.Name, line)
			continue
		}
		p.Add(marks)
		p.Legend.Add(l.Name, line, marks)
	}
	return p, nil
}

func rank(l Line) int {
	if l.Faint {
		return 0
	}
	return 1
}

func (l Line) points() plotter.XYs {
	var out plotter.XYs
	for i, x := range l.X {
		if y := l.Y[i]; !math.IsNaN(y) && !math.IsInf(y, 0) {
			out = append(out, plotter.XY{X: x, Y: y})
		}
	}
	return out
}
