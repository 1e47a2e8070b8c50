package main

import (
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// writeJSON prints one document.
func writeJSON(w io.Writer, d document) error {
	to := json.NewEncoder(w)
	to.SetIndent("", "  ")
	return to.Encode(d)
}

// writeTables prints the figures and the costs as Markdown.
func writeTables(w io.Writer, d document) error {
	var b strings.Builder
	fmt.Fprintf(&b, "Timesteps %d to %d, %d shards.\n\n", d.First, d.Last, d.Shards)
	fmt.Fprintf(&b, "| score | AUC | average precision | F1 served | best F1 | calibration error "+
		"| precision at %d | recall at %d | weights at the last timestep |\n|---|--:|--:|--:|--:|--:|--:|--:|---|\n",
		d.Budget, d.Budget)
	for _, f := range d.Figures {
		name := f.Name
		if len(f.Components) > 1 {
			name += " of " + strings.Join(f.Components, ", ")
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %.3f | %s | %s | %.3f | %.3f | %s |\n", name, digits(f.AUC, 4),
			digits(f.AveragePrecision, 4), f.ServedF1, digits(f.BestF1, 3), digits(f.CalibrationError, 4),
			f.BudgetPrecision, f.BudgetRecall, weights(f))
	}
	writeGains(&b, d)
	b.WriteString("\nSeconds of processor time:\n\n" +
		"| component | groups | touched by an erasure | all groups, last timestep | one group | whole run |\n" +
		"|---|--:|--:|--:|--:|--:|\n")
	for _, c := range d.Costs {
		fmt.Fprintf(&b, "| %s | %d | %.2f | %.2f | %.3f | %.1f |\n", c.Name, c.Groups, c.Touched, c.LastTimestep, c.Group,
			c.Total)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// writeGains prints what ensembles gain on the first one, if that was asked for.
func writeGains(b *strings.Builder, d document) {
	head := "\nGains on the first ensemble, and 95 % of them on rows, and on whole timesteps, drawn again:\n\n" +
		"| score | AUC | average precision |\n|---|--:|--:|\n"
	for _, f := range d.Figures {
		if f.Gains == nil {
			continue
		}
		auc, ap := f.Gains.AUC, f.Gains.AveragePrecision
		fmt.Fprintf(b, "%s| %s of %s | %s | %s |\n", head, f.Name, strings.Join(f.Components, ", "), auc, ap)
		head = ""
	}
}

// String is the difference and both intervals.
func (p paired) String() string {
	return fmt.Sprintf("%+.4f (%+.4f to %+.4f; %+.4f to %+.4f)", p.Difference, p.Low, p.High, p.TimestepsLow,
		p.TimestepsHigh)
}

// digits writes a number that may be undefined.
func digits(v *float64, n int) string {
	if v == nil {
		return "–"
	}
	return strconv.FormatFloat(*v, 'f', n, 64)
}

// weights lists a combination's numbers.
func weights(f figures) string {
	var parts []string
	for _, v := range f.Weights {
		parts = append(parts, strconv.FormatFloat(v, 'f', 2, 64))
	}
	return fmt.Sprintf("%s; %+.2f", strings.Join(parts, ", "), f.Intercept)
}
