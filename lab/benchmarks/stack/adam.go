package main

import (
	"math"

	"gonum.org/v1/gonum/mat"
)

// adam is the optimiser of Kingma and Ba, ICLR 2015, with step .01; the zero value has
// made no step.
type adam struct {
	steps        int
	mean, square []float64
}

// step moves weights against their gradient.
func (a *adam) step(weights, gradient *mat.Dense) {
	const size, keepMean, keepSquare, floor = .01, .9, .999, 1e-8
	w, g := weights.RawMatrix().Data, gradient.RawMatrix().Data
	if a.steps == 0 {
		a.mean, a.square = make([]float64, len(w)), make([]float64, len(w))
	}
	a.steps++
	mean, square := 1-math.Pow(keepMean, float64(a.steps)), 1-math.Pow(keepSquare, float64(a.steps))
	for i, v := range g {
		a.mean[i] = keepMean*a.mean[i] + (1-keepMean)*v
		a.square[i] = keepSquare*a.square[i] + (1-keepSquare)*v*v
		w[i] -= size * (a.mean[i] / mean) / (math.Sqrt(a.square[i]/square) + floor)
	}
}
