package main

import (
	"fmt"
	"io"
	"strings"

	"lethe"
	"lethe/lab/report"
)

// alerts are those of one timestep: as many as the budget allows, of the transactions
// with a label.
type alerts struct {
	Timestep lethe.Timestep `json:"timestep"`
	Alerts   int            `json:"alerts"`
	// Illicit is how many there are, and Right how many alerts are about one; of equal
	// scores at the end of the budget each counts in part.
	Illicit   int     `json:"illicit"`
	Right     float64 `json:"right"`
	Precision float64 `json:"precision"`
	Recall    float64 `json:"recall"`
}

// alerts returns those of every timestep with labels from first to last.
func (r *reading) alerts(first, last lethe.Timestep, budget int) (out []alerts) {
	for _, t := range r.tally.Timesteps() {
		if t < first || t > last {
			continue
		}
		if b := r.tally.AtBudget(t, t, budget); b.Alerts > 0 {
			out = append(out, alerts{t, b.Alerts, b.Illicit, b.Right, b.Precision(), b.Recall()})
		}
	}
	return out
}

// stacks are the figures of the learnt combinations of several components.
func (d document) stacks() (out []figures) {
	for _, f := range d.Figures {
		if f.weighed && len(f.Components) > 1 {
			out = append(out, f)
		}
	}
	return out
}

// writeAlerts prints those of every stack as Markdown.
func writeAlerts(w io.Writer, d document) error {
	var b strings.Builder
	for _, f := range d.stacks() {
		fmt.Fprintf(&b, "\n%s of %s, %d alerts a timestep:\n\n", f.Name, strings.Join(f.Components, ", "), d.Budget)
		b.WriteString("| timestep | illicit | alerts | right | precision | recall |\n|--:|--:|--:|--:|--:|--:|\n")
		for _, a := range f.Alerts {
			fmt.Fprintf(&b, "| %d | %d | %d | %g | %.3f | %.3f |\n", a.Timestep, a.Illicit, a.Alerts, a.Right, a.Precision,
				a.Recall)
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// drawAlerts draws precision and recall of the first stack, and the share of the illicit
// transactions that so many alerts can be about at most.
func drawAlerts(path string, d document) error {
	stacks := d.stacks()
	if len(stacks) == 0 {
		return fmt.Errorf("figure of alerts: no ensemble has several components")
	}
	f := &report.Figure{
		Title: fmt.Sprintf("%d alerts a timestep", d.Budget), X: "timestep", Y: "share",
		Lines: []report.Line{{Name: "precision"}, {Name: "recall"}, {Name: "highest recall that the budget allows"}},
	}
	for _, a := range stacks[0].Alerts {
		most := 1.0
		if a.Illicit > 0 {
			most = min(1, float64(a.Alerts)/float64(a.Illicit))
		}
		for i, y := range []float64{a.Precision, a.Recall, most} {
			line := &f.Lines[i]
			line.X, line.Y = append(line.X, float64(a.Timestep)), append(line.Y, y)
		}
	}
	return f.Save(path)
}
