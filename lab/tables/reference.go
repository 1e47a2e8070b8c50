package tables

import (
	"fmt"
	"math"

	"lethe/lab/paper"
	"lethe/lab/report"
)

// referenceTable compares figures with those of a PyTorch Geometric program on the
// same protocol, under the unweighted mean that it used.
type referenceTable struct {
	report.Table
	within, total int
}

func newReferenceTable(title string) *referenceTable {
	return &referenceTable{Table: report.Table{
		Title: title + ", beside a PyTorch Geometric reference (%)",
		Columns: []string{"data set", "model", "width", "method", "test nodes", "reference", "all nodes", "reference",
			"its splits", "within"},
	}}
}

// referenceDeviation stands in where the reference did not report its spread
// over splits: the middle of those that it did, in points.
const referenceDeviation = 2.0

// add compares one cell with the reference, if there is one.
func (t *referenceTable) add(p *paper.Paper, dataset string, m model, method string, a accuracy) {
	r, known := p.Reference(dataset, m.name, method, m.referenceHidden())
	if !known || !isNumber(a.mean) {
		return
	}
	deviation := r.Deviation
	if math.IsNaN(deviation) {
		deviation = referenceDeviation
	}
	// The two means differ by chance by about this much; a better figure is no
	// shortfall.
	allowed := math.Max(deviation, 100*a.mean.Deviation())
	gap := 100*a.mean.Mean() - r.Test
	verdict := "yes"
	switch {
	case gap > allowed:
		verdict = fmt.Sprintf("above by %.1f", gap)
	case gap < -allowed:
		verdict = fmt.Sprintf("below by %.1f", -gap)
	}
	t.total++
	if gap >= -allowed {
		t.within++
	}
	t.Add(dataset, m.name, m.width(), method, a.mean.Percent(), fmt.Sprintf("%.1f", r.Test), a.meanAll.Percent(),
		fmt.Sprintf("%.1f", r.All), splitsOf(r), verdict)
}

// splitsOf tells how many splits a figure of the reference is of.
func splitsOf(r paper.Reference) string {
	if r.Splits == 0 {
		return "2 to 5"
	}
	return fmt.Sprint(r.Splits)
}

// conclude notes how many cells are within, if there are any.
func (t *referenceTable) conclude() {
	if t.total == 0 {
		return
	}
	t.Note("Mean aggregation on both sides. Within: not below the reference by more than one standard deviation over "+
		"splits (the larger of the two; %.0f points where the reference reports none). %d of %d are.",
		referenceDeviation, t.within, t.total)
	t.Note("Its splits: a number for figures of lab/reference/citation.py, 2 to 5 for those of the program before it.")
}
