package attack

import (
	"fmt"

	"lethe/lab/report"
)

// Table returns the findings as a table with the settings under it.
func (r *Report) Table() *report.Table {
	t := &report.Table{
		Title: "Attacks on erasures: " + r.Dataset,
		Columns: []string{
			"scope", "adversary", "attack", "control AUC", "interval",
			"AUC before", "AUC after", "interval", "certain", "never held", "verdict",
		},
	}
	for i := range r.Findings {
		f := &r.Findings[i]
		t.Add(string(f.Scope), string(f.Adversary), f.Attack, f.Control.area(), f.Control.between(),
			f.Before.area(), f.Result.area(), f.Result.between(),
			report.Number(f.Result.CertainShare, 3), f.NeverHeld.area(), string(f.Verdict))
	}
	labels := "with their own labels"
	if r.Mislabelled {
		labels = "with wrong labels"
	}
	t.Note("%d timesteps, %d transactions, %d shards", r.Timesteps, r.Transactions, r.Shards)
	t.Note("%d members %s, erased by %d requests, and as many outsiders; seed %d", r.Targets, labels, r.Requests, r.Seed)
	t.Note("certain: share of positives that score above every negative")
	t.Note("intervals: %g family-wise over the attacks of one adversary at one scope", familyConfidence)
	return t
}

// area prints the AUC.
func (m *Measured) area() string {
	if m == nil {
		return report.Missing
	}
	return report.Number(m.AUC, 3)
}

// between prints the interval.
func (m *Measured) between() string {
	return fmt.Sprintf("%.3f to %.3f", m.Interval.Low, m.Interval.High)
}
