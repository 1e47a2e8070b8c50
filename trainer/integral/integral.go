// Package integral adds up by what a function of many inputs grows on a straight way, input
// by input, so that the sums are its growth: the integrated gradients of a network
// (Sundararajan, Taly and Yan, "Axiomatic Attribution for Deep Networks", ICML 2017).
//
// It is made for functions that are linear in pieces along the way, as networks of ReLUs
// are. Two points with different gradients and the values there tell where between them the
// gradient changes: exactly, if it does once. A stretch of the way that the gradients of its
// ends cannot account for is halved.
package integral

import (
	"context"
	"math"
	"slices"
)

// Place is a place on one of several ways.
type Place struct {
	Way int
	// At is from 0, the beginning, to 1.
	At float64
}

// Point is what a function is and does at a place.
type Point struct {
	// Value is the function's.
	Value float64
	// Terms are by how much it grows along the way, input by input.
	Terms []float64
}

// Integral is what a way adds up to.
type Integral struct {
	// First and Last are the function's values at the ends.
	First, Last float64
	// Terms are what each input adds. Their sum is Last - First within 5e-4, of a function
	// with values beyond ±32 in proportion, unless it is so rough that it took MostPoints.
	Terms []float64
	// Points is how many places were visited.
	Points int
}

const (
	// MostPoints bounds the points of a way. There may be up to twice as many.
	MostPoints = 512
	// firstStretches is into how many stretches a way is divided at first.
	firstStretches = 8
	// mayMiss is what all stretches together may miss, and mayTurn by how much the terms
	// of each may change, added up.
	mayMiss, mayTurn = 5e-4, .5
	// beyond is how far beyond the gradients at its ends that of a stretch may be, as a part
	// of their difference.
	beyond = 1
	// usual is up to where values count as such: single precision has no more digits for
	// larger ones.
	usual = 32
)

// Along integrates along some ways at once. visit computes the functions at some places of
// theirs. No integral depends on the other ways. The error is that of visit or of the
// context.
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

// Mean is the mean of some functions' points, place by place. It overwrites those of the first.
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

// way is one that is integrated along.
type way struct {
	points []point
	// next are the places that are to be visited, ascending.
	next []float64
}

// point is a Point that was visited.
type point struct {
	Point
	at float64
	// slope is the sum of the terms.
	slope float64
}

// visited adds the points of the next places, and plans which come next.
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

// sum adds up the stretches.
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

// stretch is the way between two points that follow each other.
type stretch struct {
	length float64
	// share is for how much of it the gradient is that of its beginning: what makes the
	// values at its ends right. Where the gradient between them is beyond both, so is share.
	share float64
	// missed is by how much they are not, and turned by how much the terms at its ends
	// differ, times its length: no term is further off than that.
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

// coarse returns the middles of the stretches that are to be halved.
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
