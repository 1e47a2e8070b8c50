// Package integral integrates the gradient of a function of many inputs along a straight path,
// input by input, so that the sums add up to the function's increase: the integrated gradients of
// a network (Sundararajan, Taly and Yan, "Axiomatic Attribution for Deep Networks", ICML 2017).
//
// It is designed for functions that are piecewise linear along the path, as networks of ReLUs
// are. From the values and gradients at two points it computes where between them the gradient
// changes, exactly if it changes once. A segment whose ends do not explain its increase is
// halved.
package integral

import (
	"context"
	"math"
	"slices"
)

// Place is a position on one of several paths.
type Place struct {
	Way int
	// At is from 0, the beginning, to 1.
	At float64
}

// Point is the function's value and derivatives at a place.
type Point struct {
	// Value is the function's value.
	Value float64
	// Terms are the derivatives along the path, input by input.
	Terms []float64
}

// Integral is the result for a path.
type Integral struct {
	// First and Last are the function's values at the ends.
	First, Last float64
	// Terms are the contributions of the inputs. Their sum is Last - First within 5e-4, in
	// proportion for functions with values beyond ±32, unless the function is so rough that
	// MostPoints was reached.
	Terms []float64
	// Points is the number of points evaluated.
	Points int
}

const (
	// MostPoints limits the points of a path; the last round may double it.
	MostPoints = 512
	// firstStretches is the initial number of segments of a path.
	firstStretches = 8
	// mayMiss is the tolerated error of all segments together, and mayTurn the tolerated change of
	// the terms per segment, summed.
	mayMiss, mayTurn = 5e-4, .5
	// beyond is how far a segment's mean gradient may be outside the gradients at its ends, as a
	// share of their difference.
	beyond = 1
	// usual is the magnitude up to which tolerances are absolute: single precision has fewer
	// decimals for larger values.
	usual = 32
)

// Along integrates along several paths at once. visit evaluates the functions at some places. No
// integral depends on the other paths. The error is that of visit or of the context.
func Along(ctx context.Context, ways int, visit func(places []Place) ([]Point, error)) ([]Integral, error) {
	all := make([]way, ways)
	for i := range all {
		for k := range firstStretches + 1 {
			all[i].next = append(all[i].next, float64(k)/firstStretches)
		}
	}
	for {
		var places []Place
		for i, w := range all {
			for _, at := range w.next {
				places = append(places, Place{i, at})
			}
		}
		if len(places) == 0 {
			break
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		met, err := visit(places)
		if err != nil {
			return nil, err
		}
		for i := range all {
			n := len(all[i].next)
			all[i].visited(met[:n])
			met = met[n:]
		}
	}
	out := make([]Integral, ways)
	for i, w := range all {
		out[i] = w.sum()
	}
	return out, nil
}

// Mean returns the mean of several functions' points, place by place. It overwrites those of the
// first.
func Mean(by [][]Point) []Point {
	out, share := by[0], 1/float64(len(by))
	for i := range out {
		for _, other := range by[1:] {
			out[i].Value += other[i].Value
			for k, v := range other[i].Terms {
				out[i].Terms[k] += v
			}
		}
		out[i].Value *= share
		for k := range out[i].Terms {
			out[i].Terms[k] *= share
		}
	}
	return out
}

// way is a path under integration.
type way struct {
	points []point
	// next are the places to evaluate next, ascending.
	next []float64
}

// point is an evaluated Point.
type point struct {
	Point
	at float64
	// slope is the sum of the terms.
	slope float64
}

// visited adds the points of the next places, and plans the following ones.
func (w *way) visited(met []Point) {
	for i, m := range met {
		p := point{Point: m, at: w.next[i]}
		for _, v := range p.Terms {
			p.slope += v
		}
		w.points = append(w.points, p)
	}
	if w.next = nil; len(met) == 0 {
		return
	}
	slices.SortFunc(w.points, func(a, b point) int {
		if a.at < b.at {
			return -1
		}
		return 1
	})
	if len(w.points) < MostPoints {
		w.next = w.coarse()
	}
}

// sum adds up the segments.
func (w *way) sum() Integral {
	last := w.points[len(w.points)-1]
	out := Integral{
		First: w.points[0].Value, Last: last.Value, Terms: make([]float64, len(last.Terms)), Points: len(w.points),
	}
	for i := 1; i < len(w.points); i++ {
		from, to := w.points[i-1].Terms, w.points[i].Terms
		s := stretchOf(w.points[i-1], w.points[i])
		for k := range out.Terms {
			out.Terms[k] += float64(s.length * (float64(s.share*from[k]) + float64((1-s.share)*to[k])))
		}
	}
	return out
}

// stretch is the segment between two consecutive points.
type stretch struct {
	length float64
	// share is the part of the segment with the gradient of its beginning, chosen to match the
	// values at its ends. It is outside 0 to 1 if the mean gradient is outside those of the ends.
	share float64
	// missed is the mismatch that remains, and turned the difference of the terms at the ends times
	// the length, which bounds the error of each term.
	missed, turned float64
}

func stretchOf(from, to point) stretch {
	s := stretch{length: to.at - from.at, share: .5}
	mean := (to.Value - from.Value) / s.length
	if from.slope != to.slope {
		s.share = min(1+beyond, max(-beyond, (mean-to.slope)/(from.slope-to.slope)))
	}
	met := float64(s.share*from.slope) + float64((1-s.share)*to.slope)
	s.missed = s.length * math.Abs(mean-met)
	for k, v := range from.Terms {
		s.turned += float64(s.length * math.Abs(to.Terms[k]-v))
	}
	return s
}

// coarse returns the midpoints of the segments to halve.
func (w *way) coarse() (next []float64) {
	missed, scale := 0.0, 1.0
	stretches := make([]stretch, len(w.points))
	for i := 1; i < len(w.points); i++ {
		from, to := w.points[i-1], w.points[i]
		scale = max(scale, math.Abs(from.Value)/usual, math.Abs(to.Value)/usual)
		stretches[i] = stretchOf(from, to)
		missed += stretches[i].missed
	}
	for i := 1; i < len(w.points); i++ {
		misses := missed > mayMiss*scale && stretches[i].missed > mayMiss*scale/float64(len(w.points))
		if misses || stretches[i].turned > mayTurn*scale {
			next = append(next, (w.points[i-1].at+w.points[i].at)/2)
		}
	}
	return next
}
