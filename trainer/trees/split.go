package trees

// sums are what a set of rows adds up to: first and second derivatives of the
// loss in fixed point, and the rows.
type sums struct {
	gradient, hessian int64
	rows              int
}

func (s sums) plus(t sums) sums {
	return sums{s.gradient + t.gradient, s.hessian + t.hessian, s.rows + t.rows}
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
	g, h := float64(s.gradient)/fixedPoint, float64(float64(s.hessian)/fixedPoint)
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
type histogram []sums

// fill adds up the rows of a leaf, whose derivatives are given in the leaf's
// own order.
func (h histogram) fill(column []uint8, rows []int32, gradients, hessians []int64) {
	clear(h)
	gradients, hessians = gradients[:len(rows)], hessians[:len(rows)]
	for k, i := range rows {
		cell := &h[column[i]]
		cell.gradient += gradients[k]
		cell.hessian += hessians[k]
		cell.rows++
	}
}

// subtract takes the rows of one child away, which leaves the other's.
func (h histogram) subtract(child histogram) {
	child = child[:len(h)]
	for bin := range h {
		h[bin] = h[bin].minus(child[bin])
	}
}

// improve makes best the best split of the leaf by this feature if that gains
// more. Of equal ones the lowest bin wins.
//
// Most bins are ruled out without a division: with a and b for the denominators
// of both sides, G²/a + g²/b exceeds x only if G²b + g²a exceeds xab.
func (h histogram) improve(best *split, feature int, all sums, o *Config) {
	whole := all.quality(o.L2)
	minRows, minHessian, l2 := o.MinChildRows, fixed(o.MinChildWeight), float64(o.L2*fixedPoint)
	gradient, hessian := float64(all.gradient), float64(all.hessian)+l2
	bar := (best.gain + whole) * fixedPoint
	var left sums
	bin := 0
	for ; bin < len(h) && (left.rows+h[bin].rows < minRows || left.hessian+h[bin].hessian < minHessian); bin++ {
		left = left.plus(h[bin])
	}
	mostRows, mostHessian := all.rows-minRows, all.hessian-minHessian
	for ; bin < len(h); bin++ {
		left = left.plus(h[bin])
		if left.rows > mostRows || left.hessian > mostHessian {
			return
		}
		g, a := float64(left.gradient), float64(left.hessian)
		rest, b := gradient-g, hessian-a
		a += l2
		if float64(float64(g*g)*b)+float64(float64(rest*rest)*a) <= float64(bar*float64(a*b)) {
			continue
		}
		if gain := left.quality(o.L2) + all.minus(left).quality(o.L2) - whole; gain > best.gain {
			*best = split{feature: feature, bin: uint8(bin), gain: gain, left: left}
			bar = (gain + whole) * fixedPoint
		}
	}
}
