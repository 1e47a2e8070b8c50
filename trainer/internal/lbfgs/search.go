package lbfgs

import (
	"context"
	"math"
	"slices"
)

// flatter is the ratio to which the slope must fall at the end of a search: the curvature
// condition of the strong Wolfe conditions.
const flatter = 0.9

// bracket encloses a step at which the function is lower than at its ends.
type bracket struct{ low, high, lowValue, highValue float64 }

// search looks along the direction for a point that is no higher and flatter, by doubling and
// halving the first length, and leaves it in trial. found is false if rounding hides any possible
// gain.
func (m *minimiser) search(ctx context.Context, length float64) (found bool, err error) {
	slope := dot(m.gradient, m.direction)
	if !(slope < 0) {
		return false, nil
	}
	b := bracket{high: math.Inf(1), lowValue: m.value, highValue: math.NaN()}
	for {
		if err := ctx.Err(); err != nil {
			return false, err
		}
		addScaledTo(m.trial.x, m.x, length, m.direction)
		if slices.Equal(m.trial.x, m.x) {
			return false, nil
		}
		m.trial.value = m.Value(m.trial.x)
		var next float64
		if m.trial.value <= b.lowest(m.value) {
			m.Gradient(m.trial.gradient, m.trial.x)
			now := dot(m.trial.gradient, m.direction)
			if math.Abs(now) < flatter*math.Abs(slope) && m.trial.finite() {
				return true, nil
			}
			next = b.below(length, m.trial.value, now)
		} else {
			next = b.above(length, m.trial.value)
		}
		if next == length {
			return false, nil
		}
		length = next
	}
}

// lowest returns the lowest known value; first is the value at the start of the search. NaN is
// ignored.
func (b *bracket) lowest(first float64) float64 {
	for _, v := range []float64{b.highValue, b.lowValue} {
		if v < first {
			first = v
		}
	}
	return first
}

// below records a step that is lower than all previous ones, with the slope there, and returns
// the next length to try.
func (b *bracket) below(length, value, slope float64) float64 {
	unbounded := math.IsInf(b.high, 1)
	if slope < 0 || unbounded && slope == 0 {
		b.low, b.lowValue = length, value
	} else {
		b.high, b.highValue = length, value
	}
	if unbounded && slope <= 0 {
		return 2 * length
	}
	return (b.low + b.high) / 2
}

// above records a step that is not lower, and returns the next length to try.
func (b *bracket) above(length, value float64) float64 {
	if math.IsInf(b.high, 1) || b.lowValue <= b.highValue {
		b.high, b.highValue = length, value
	} else {
		b.low, b.lowValue = length, value
	}
	return (b.low + b.high) / 2
}
