package calibrate

import (
	"cmp"
	"slices"

	"lethe/internal/portable"
)

// uncalibrated is the weight of 1/(1+e^-z) in the isotonic probability. The isotonic curve alone
// has steps, on which different logits would tie, and reaches 0 and 1, which no data can justify;
// this small share of an increasing curve preserves the order and changes no probability by more
// than its weight.
const uncalibrated = 0.001

// knot is a corner of the curve.
type knot struct{ logit, probability float64 }

// block is a run of rows that share a value of the curve.
type block struct {
	first, last float64
	// illicit of rows rows are illicit.
	illicit, rows int64
}

// fitIsotonic returns the corners of the non-decreasing curve with the least squared error on the
// rows, which ascend by logit. Rows of one logit have one value. Adjacent blocks that would
// decrease are pooled into their mean until none is left (Ayer and others, "An Empirical
// Distribution Function for Sampling with Incomplete Information", 1955). All counts are integers,
// so the result does not depend on the order of rows.
func fitIsotonic(rows []row) []knot {
	var blocks []block
	for from := 0; from < len(rows); {
		b := block{first: rows[from].logit, last: rows[from].logit}
		for ; from < len(rows) && rows[from].logit == b.last; from++ {
			b.illicit += int64(count(rows[from].illicit))
			b.rows++
		}
		for len(blocks) > 0 && !blocks[len(blocks)-1].below(b) {
			before := blocks[len(blocks)-1]
			blocks = blocks[:len(blocks)-1]
			b = block{before.first, b.last, before.illicit + b.illicit, before.rows + b.rows}
		}
		blocks = append(blocks, b)
	}
	var knots []knot
	for _, b := range blocks {
		p := float64(b.illicit) / float64(b.rows)
		knots = append(knots, knot{b.first, p})
		if b.last > b.first {
			knots = append(knots, knot{b.last, p})
		}
	}
	return knots
}

// below reports whether the block's mean is less than the other's.
func (b block) below(other block) bool { return b.illicit*other.rows < other.illicit*b.rows }

// applyIsotonic evaluates the curve at a logit: constant within a block and outside of all blocks,
// linear from a block's last logit to the next one's first, as in scikit-learn, mixed with the
// uncalibrated probability.
func applyIsotonic(knots []knot, logit float64) float64 {
	at, found := slices.BinarySearchFunc(knots, logit, func(k knot, z float64) int { return cmp.Compare(k.logit, z) })
	var p float64
	switch {
	case found:
		p = knots[at].probability
	case at == 0:
		p = knots[0].probability
	case at == len(knots):
		p = knots[at-1].probability
	default:
		before, after := knots[at-1], knots[at]
		share := (logit - before.logit) / (after.logit - before.logit)
		p = min(before.probability+float64(share*(after.probability-before.probability)), after.probability)
	}
	return float64((1-uncalibrated)*p) + float64(uncalibrated*portable.Logistic(logit))
}
