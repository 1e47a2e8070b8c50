package calibrate

import (
	"cmp"
	"slices"

	"lethe/internal/portable"
)

// uncalibrated is the share of 1/(1+e^-z) in the probability of isotonic. The curve
// itself has steps, on which logits would tie, and begins and ends at 0 and 1,
// which nobody can know; so little of a rising curve keeps their order and moves no
// probability by more than this.
const uncalibrated = 0.001

// knot is a corner of the curve.
type knot struct{ logit, probability float64 }

// block is a run of rows that share a value of the curve.
type block struct {
	first, last float64
	// illicit of rows rows are illicit.
	illicit, rows int64
}

// fitIsotonic returns the corners of the curve that never falls and has the least
// squared error on the rows, which ascend by logit. Rows of one logit have one
// value. Blocks of neighbours that would fall are pooled into their mean until none
// is left (Ayer and others, "An Empirical Distribution Function for Sampling with
// Incomplete Information", 1955). All is counted in whole numbers, so that no order
// of rows can tell.
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

// applyIsotonic is the curve at a logit: flat within a block and outside of all,
// straight from a block's last logit to the next one's first, as scikit-learn has
// it, with the share of the uncalibrated probability.
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
