package trees

import "math/bits"

// gradientUnit is one in the fixed point of gradients.
const gradientUnit = 1 << 32

// cell is a sum over rows, in fixed point: first derivatives of the loss and, packed into one
// number, the row count above the second derivatives, so that a row costs a histogram two
// additions instead of three.
type cell struct {
	gradient int64
	packed   uint64
}

func (c cell) plus(d cell) cell { return cell{c.gradient + d.gradient, c.packed + d.packed} }

func (c cell) minus(d cell) cell { return cell{c.gradient - d.gradient, c.packed - d.packed} }

// scale defines the fixed point of cells.
type scale struct {
	// shift is the position of the count.
	shift uint
	// unit is one in the fixed point of second derivatives.
	unit float64
	// l2 is λ in that fixed point.
	l2 float64
}

// newScale reserves bits for the counts of a number of rows. Second derivatives, whose sum is
// below most, get the remaining bits of 64, but no finer unit than gradients.
func newScale(rows int, most, l2 float64) scale {
	s := scale{shift: uint(64 - bits.Len(uint(rows))), unit: gradientUnit}
	for room := float64(uint64(1) << (s.shift - 1)); most*s.unit > room; {
		s.unit /= 2
	}
	s.l2 = float64(l2 * s.unit)
	return s
}

// row returns the cell of one row. A second derivative must not be negative.
func (s scale) row(gradient, hessian float64) cell {
	return cell{gradient: fixed(gradient), packed: uint64(hessian*s.unit) + 1<<s.shift}
}

// fixed converts x to the fixed point of gradients.
func fixed(x float64) int64 { return int64(x * gradientUnit) }

// weigh is the sum of second derivatives, in fixed point.
func (s scale) weigh(c cell) uint64 { return c.packed & (1<<s.shift - 1) }

// quality is how much a leaf with these sums lowers the loss, times two: G²/(H+λ), equation 6 of
// XGBoost.
func (s scale) quality(c cell) float64 {
	g := float64(c.gradient) / gradientUnit
	return float64(g*g) / ((float64(int64(s.weigh(c))) + s.l2) / s.unit)
}

// output returns the step of a leaf with these sums, -G/(H+λ), equation 5 of XGBoost.
func (s scale) output(c cell) float64 {
	h := float64(int64(s.weigh(c))) + s.l2
	if h == 0 {
		return 0
	}
	return float64(-c.gradient) / gradientUnit / (h / s.unit)
}
