package attack

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/plotutil"
	"gonum.org/v1/plot/vg"

	"lethe"
	"lethe/evaluation/attack/roc"
)

// The files that Write makes, and the size of a figure.
const (
	markdownFile = "attacks.md"
	csvFile      = "attacks.csv"
	figureSide   = 14 * vg.Centimeter
)

// Write writes the report to a folder: attacks.md, attacks.csv, and one figure
// of ROC curves per scope and adversary.
func Write(dir string, r *Report) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("folder of the report: %w", err)
	}
	if err := os.WriteFile(filepath.Join(dir, markdownFile), r.markdown(), 0o644); err != nil {
		return fmt.Errorf("report: %w", err)
	}
	var table bytes.Buffer
	if err := csv.NewWriter(&table).WriteAll(r.Rows()); err != nil {
		return fmt.Errorf("report: %w", err)
	}
	if err := os.WriteFile(filepath.Join(dir, csvFile), table.Bytes(), 0o644); err != nil {
		return fmt.Errorf("report: %w", err)
	}
	for _, f := range r.figures() {
		if err := f.save(dir); err != nil {
			return fmt.Errorf("figure %s: %w", f.file(), err)
		}
	}
	return nil
}

// markdown is the report as a page.
func (r *Report) markdown() []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "# Attacks on erasures: %s\n\n%d timesteps, %d transactions, %d shards, %d targets of each kind, seed %d.\n\n",
		r.Dataset, r.Timesteps, r.Transactions, r.Shards, r.Targets, r.Seed)
	for i, row := range r.Rows() {
		fmt.Fprintf(&b, "| %s |\n", strings.Join(row, " | "))
		if i == 0 {
			fmt.Fprintf(&b, "|%s\n", strings.Repeat("---|", len(row)))
		}
	}
	for _, f := range r.figures() {
		fmt.Fprintf(&b, "\n![ROC curves, scope %s, %s](%s)\n", f.scope, f.adversary, f.file())
	}
	return b.Bytes()
}

// figure holds the curves of one adversary at one scope.
type figure struct {
	scope     lethe.Scope
	adversary Adversary
	findings  []*Finding
}

// figures groups the findings in their order.
func (r *Report) figures() []*figure {
	var out []*figure
	for i := range r.Findings {
		f := &r.Findings[i]
		if n := len(out); n == 0 || out[n-1].scope != f.Scope || out[n-1].adversary != f.Adversary {
			out = append(out, &figure{scope: f.Scope, adversary: f.Adversary})
		}
		last := out[len(out)-1]
		last.findings = append(last.findings, f)
	}
	return out
}

func (f *figure) file() string {
	return fmt.Sprintf("roc-%s-%s.png", f.scope, strings.ReplaceAll(string(f.adversary), " ", "-"))
}

// save draws results as lines and controls dashed, in the same colours.
func (f *figure) save(dir string) error {
	p := plot.New()
	p.Title.Text = fmt.Sprintf("scope %s: %s", f.scope, f.adversary)
	p.X.Label.Text, p.Y.Label.Text = "false positive rate", "true positive rate"
	p.X.Min, p.X.Max, p.Y.Min, p.Y.Max = 0, 1, 0, 1
	p.Legend.Left, p.Legend.Top = false, false
	for i, finding := range f.findings {
		after, err := curveLine(finding.resultCurve, i)
		if err != nil {
			return err
		}
		control, err := curveLine(finding.controlCurve, i)
		if err != nil {
			return err
		}
		control.Dashes = plotutil.Dashes(1)
		p.Add(after, control)
		p.Legend.Add(finding.Attack, after)
		p.Legend.Add(finding.Attack+", control", control)
	}
	return p.Save(figureSide, figureSide, filepath.Join(dir, f.file()))
}

func curveLine(curve []roc.Point, colour int) (*plotter.Line, error) {
	points := make(plotter.XYs, len(curve))
	for i, c := range curve {
		points[i] = plotter.XY{X: c.FalsePositiveRate, Y: c.TruePositiveRate}
	}
	line, err := plotter.NewLine(points)
	if err != nil {
		return nil, err
	}
	line.Color = plotutil.Color(colour)
	return line, nil
}
