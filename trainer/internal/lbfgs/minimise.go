package lbfgs

import (
	"context"
	"math"
	"slices"
)

// Problem is a smooth function with a lower bound.
type Problem struct {
	// Value returns the function's value at x. It keeps nothing of x.
	Value func(x []float64) float64
	// Gradient stores the derivatives at x, the point whose value was asked for last.
	Gradient func(into, x []float64)
}

// Options say when to end.
type Options struct {
	// Points bounds the points that are stepped to, the first one included; at least 1.
	Points int
	// Tolerance ends it once no derivative is as large.
	Tolerance float64
	// Gain is the share of the value by which it has to fall within Patience steps.
	Gain     float64
	Patience int
}

// Result is what was found.
type Result struct {
	// X is the best point.
	X []float64
	// Points counts those stepped to, the first one included.
	Points int
	// Converged is false if it ended by the number of points or because no step goes further.
	Converged bool
}

// Minimise goes down from start, which it does not keep. Value and derivatives that are no
// numbers at a point keep it from being stepped to; if they are so at the first one, that is
// the result. The error is the context's.
func Minimise(ctx context.Context, p Problem, start []float64, o Options) (Result, error) {
	n := len(start)
	m := &minimiser{Problem: p, point: newPoint(n), trial: newPoint(n), direction: make([]float64, n)}
	copy(m.x, start)
	m.value = p.Value(m.x)
	p.Gradient(m.gradient, m.x)
	r := Result{X: m.x}
	if !m.finite() {
		return r, ctx.Err()
	}
	calm, best := 0, m.value
	for {
		r.Points++
		if r.Points > 1 {
			calm++
			if m.value < best && best-m.value > float64(o.Gain*max(math.Abs(m.value), math.Abs(best))) {
				calm, best = 0, m.value
			}
		}
		r.Converged = largest(m.gradient) < o.Tolerance || calm >= o.Patience
		if r.Converged || r.Points >= o.Points {
			return r, nil
		}
		length := m.aim()
		found, err := m.search(ctx, length)
		if err != nil || !found {
			return r, err
		}
		m.past.add(m.point, m.trial)
		m.take(m.trial)
	}
}

// point is a place with what the function says there.
type point struct {
	x, gradient []float64
	value       float64
}

func newPoint(n int) point { return point{x: make([]float64, n), gradient: make([]float64, n)} }

func (p *point) take(q point) {
	copy(p.x, q.x)
	copy(p.gradient, q.gradient)
	p.value = q.value
}

func (p *point) finite() bool {
	return p.value-p.value == 0 && !slices.ContainsFunc(p.gradient, func(v float64) bool { return v-v != 0 })
}

// minimiser is a descent under way. The point is where it stands.
type minimiser struct {
	Problem
	point
	trial     point
	direction []float64
	past      history
}

// aim sets the direction to go in, and returns how far to try first.
func (m *minimiser) aim() (length float64) {
	copy(m.direction, m.gradient)
	m.past.multiply(m.direction)
	scale(m.direction, -1)
	if m.past.empty() {
		return 1 / norm(m.direction)
	}
	return 1
}
