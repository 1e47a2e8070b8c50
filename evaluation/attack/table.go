package attack

import "fmt"

// Rows returns the findings as a table, the heading first.
func (r *Report) Rows() [][]string {
	rows := [][]string{{
		"scope", "adversary", "attack", "control AUC", "interval", "AUC before", "AUC after", "interval", "never held", "verdict",
	}}
	for i := range r.Findings {
		f := &r.Findings[i]
		rows = append(rows, []string{
			string(f.Scope), string(f.Adversary), f.Attack, f.Control.area(), f.Control.between(),
			f.Before.area(), f.Result.area(), f.Result.between(), f.NeverHeld.area(), string(f.Verdict),
		})
	}
	return rows
}

// area prints the AUC, a dash for none.
func (m *Measured) area() string {
	if m == nil {
		return "-"
	}
	return fmt.Sprintf("%.3f", m.AUC)
}

// between prints the interval.
func (m *Measured) between() string {
	return fmt.Sprintf("%.3f–%.3f", m.Interval.Low, m.Interval.High)
}
