package trees

import "math/bits"

// sums are what a set of rows adds up to: first and second derivatives of the
// loss in fixed point, and the rows.
type sums struct {
	gradient, hessian int64
	rows              int
}

func (s sums) minus(t sums) sums {
	return sums{s.gradient - t.gradient, s.hessian - t.hessian, s.rows - t.rows}
}

// fixedPoint is one in fixed point.
const fixedPoint = 1 << 32

func fixed(x float64) int64 { return int64(x * fixedPoint) }

// quality is how much a leaf with these sums lowers the loss, twice over:
// G²/(H+λ).
func (s sums) quality(l2 float64) float64 {
	g, h := float64(s.gradient)/fixedPoint, float64(s.hessian)/fixedPoint
	return float64(g*g) / (h + l2)
}

// split is a way to cut a leaf in two: rows whose bin of the feature is at most
// bin go left.
type split struct {
	feature int
	bin     uint8
	gain    float64
	left    sums
}

// histogram holds the sums of a leaf's rows by bin of one feature.
type histogram struct {
	cells [maxBins]sums
	// used has a bit for every bin that has rows, so that a leaf with few rows
	// need not look at all bins.
	used [maxBins / 64]uint64
}

// fill adds up the rows of a leaf, whose derivatives are given in the leaf's
// own order. The histogram must be empty.
func (h *histogram) fill(column []uint8, rows []int32, gradients, hessians []int64) {
	gradients, hessians = gradients[:len(rows)], hessians[:len(rows)]
	for k, i := range rows {
		bin := column[i]
		cell := &h.cells[bin]
		cell.gradient += gradients[k]
		cell.hessian += hessians[k]
		cell.rows++
		h.used[bin>>6] |= 1 << (bin & 63)
	}
}

// take empties the histogram and returns the best split of the leaf by this
// feature; its gain is 0 if there is none. Of equal ones the lowest bin wins.
func (h *histogram) take(all sums, o *Options) split {
	best := split{}
	var left sums
	whole := all.quality(o.L2)
	minHessian := fixed(o.MinChildWeight)
	for word, used := range h.used {
		h.used[word] = 0
		for ; used != 0; used &= used - 1 {
			bin := word<<6 + bits.TrailingZeros64(used)
			cell := h.cells[bin]
			h.cells[bin] = sums{}
			left = sums{left.gradient + cell.gradient, left.hessian + cell.hessian, left.rows + cell.rows}
			right := all.minus(left)
			if left.rows < o.MinChildRows || right.rows < o.MinChildRows || left.hessian < minHessian || right.hessian < minHessian {
				continue
			}
			if gain := left.quality(o.L2) + right.quality(o.L2) - whole; gain > best.gain {
				best = split{bin: uint8(bin), gain: gain, left: left}
			}
		}
	}
	return best
}
