package lbfgs

import (
	"context"
	"math"
	"slices"
)

// Problem is a smooth function with a lower bound.
type Problem struct {
	// Value returns the function's value at x. It must not retain x.
	Value func(x []float64) float64
	// Gradient stores the derivatives at x, the point of the latest call of Value.
	Gradient func(into, x []float64)
}

// Options configure the end of a minimisation.
type Options struct {
	// Points bounds the number of points stepped to, including the first one; at least 1.
	Points int
	// Tolerance ends the minimisation once all derivatives are smaller.
	Tolerance float64
	// Gain is the share of the value by which it must fall within Patience steps.
	Gain     float64
	Patience int
}

// Result is the result of a minimisation.
type Result struct {
	// X is the best point.
	X []float64
	// Points is the number of points stepped to, including the first one.
	Points int
	// Converged is false if the bound on points was reached or no step made progress.
	Converged bool
}

// Minimise descends from start, which it does not retain. Points with a NaN value or derivative
// are not stepped to; if start is such a point, it is the result. The error is the context's.
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

// point is a position with the function's value and gradient.
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

// minimiser is a descent in progress at a point.
type minimiser struct {
	Problem
	point
	trial     point
	direction []float64
	past      history
}

// aim sets the direction of the next step, and returns the first length to try.
func (m *minimiser) aim() (length float64) {
	copy(m.direction, m.gradient)
	m.past.multiply(m.direction)
	scale(m.direction, -1)
	if m.past.empty() {
		return 1 / norm(m.direction)
	}
	return 1
}
