package attack

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"lethe"
	"lethe/internal/atomicfile"
	"lethe/lab/report"
)

// The files that Write makes in addition to the figures.
const (
	markdownFile = "attacks.md"
	csvFile      = "attacks.csv"
)

// Write writes the report to a folder: attacks.md, attacks.csv, and one figure
// of ROC curves per scope and adversary, controls as thin lines.
func Write(dir string, r *Report) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("folder of the report: %w", err)
	}
	if err := r.writeTables(dir); err != nil {
		return fmt.Errorf("report: %w", err)
	}
	for _, g := range r.groups() {
		if err := g.figure().Save(filepath.Join(dir, g.file())); err != nil {
			return err
		}
	}
	return nil
}

func (r *Report) writeTables(dir string) error {
	t := r.Table()
	return errors.Join(
		atomicfile.WriteFrom(filepath.Join(dir, markdownFile), 0o644, func(page io.Writer) error {
			if err := t.Markdown(page, 1); err != nil {
				return err
			}
			for _, g := range r.groups() {
				_, err := fmt.Fprintf(page, "\n![ROC curves, scope %s, %s](%s)\n", g.scope, g.adversary, g.file())
				if err != nil {
					return err
				}
			}
			return nil
		}),
		atomicfile.WriteFrom(filepath.Join(dir, csvFile), 0o644, t.CSV),
	)
}

// group holds the findings of one adversary at one scope.
type group struct {
	scope     lethe.Scope
	adversary Adversary
	findings  []*Finding
}

// groups keeps the order of the findings.
func (r *Report) groups() []*group {
	var out []*group
	for i := range r.Findings {
		f := &r.Findings[i]
		if n := len(out); n == 0 || out[n-1].scope != f.Scope || out[n-1].adversary != f.Adversary {
			out = append(out, &group{scope: f.Scope, adversary: f.Adversary})
		}
		last := out[len(out)-1]
		last.findings = append(last.findings, f)
	}
	return out
}

func (g *group) file() string {
	return fmt.Sprintf("roc-%s-%s.png", g.scope, strings.ReplaceAll(string(g.adversary), " ", "-"))
}

func (g *group) figure() *report.Figure {
	out := &report.Figure{
		Title: fmt.Sprintf("Scope %s: %s", g.scope, g.adversary),
		X:     "false positive rate", Y: "true positive rate", Bare: true,
	}
	for _, f := range g.findings {
		control := f.Control.line(f.Attack)
		control.Faint = true
		out.Lines = append(out.Lines, f.Result.line(f.Attack), control)
	}
	return out
}

// line draws the ROC curve.
func (m *Measured) line(name string) report.Line {
	out := report.Line{Name: name}
	for _, p := range m.curve {
		out.X, out.Y = append(out.X, p.FalsePositiveRate), append(out.Y, p.TruePositiveRate)
	}
	return out
}
