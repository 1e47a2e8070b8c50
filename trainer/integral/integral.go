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

// Point is a place on the way.
type Point struct {
	// At is from 0, the beginning, to 1.
	At float64
	// Value is the function's.
	Value float64
	// Terms are by how much it grows along the way, input by input.
	Terms []float64
	// slope is their sum.
	slope float64
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
	// MostPoints bounds the points. There may be up to twice as many.
	MostPoints = 512
	// firstStretches is into how many stretches the way is divided at first.
	firstStretches = 8
	// mayMiss is what all stretches together may miss, and mayTurn by how much the terms
	// of each may change, added up.
	mayMiss, mayTurn = 5e-4, .5
	// usual is up to where values count as such: single precision has no more digits for
	// larger ones.
	usual = 32
)

// Along integrates along the way. visit computes the function at some places, ascending.
// The error is that of visit or of the context.
func Along(ctx context.Context, visit func(at []float64) ([]Point, error)) (Integral, error) {
	at := make([]float64, firstStretches+1)
	for i := range at {
		at[i] = float64(i) / firstStretches
	}
	var points []Point
	for places := make([]int, len(at)); len(at) > 0; places, at = coarse(points) {
		if err := ctx.Err(); err != nil {
			return Integral{}, err
		}
		between, err := visit(at)
		if err != nil {
			return Integral{}, err
		}
		for i := len(between) - 1; i >= 0; i-- {
			p := between[i]
			for _, v := range p.Terms {
				p.slope += v
			}
			points = slices.Insert(points, places[i], p)
		}
		if len(points) >= MostPoints {
			break
		}
	}
	return sum(points), nil
}

// sum adds up the stretches.
func sum(points []Point) Integral {
	last := points[len(points)-1]
	out := Integral{
		First: points[0].Value, Last: last.Value, Terms: make([]float64, len(last.Terms)), Points: len(points),
	}
	for i := 1; i < len(points); i++ {
		from, to := points[i-1].Terms, points[i].Terms
		s := stretchOf(points[i-1], points[i])
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
	// values at its ends right.
	share float64
	// missed is by how much they are not, and turned by how much the terms at its ends
	// differ, times its length: no term is further off than that.
	missed, turned float64
}

func stretchOf(from, to Point) stretch {
	s := stretch{length: to.At - from.At, share: .5}
	mean := (to.Value - from.Value) / s.length
	if from.slope != to.slope {
		s.share = min(1, max(0, (mean-to.slope)/(from.slope-to.slope)))
	}
	met := float64(s.share*from.slope) + float64((1-s.share)*to.slope)
	s.missed = s.length * math.Abs(mean-met)
	for k, v := range from.Terms {
		s.turned += float64(s.length * math.Abs(to.Terms[k]-v))
	}
	return s
}

// coarse returns the stretches that are to be halved, by the points that end them, and
// their middles.
func coarse(points []Point) (places []int, at []float64) {
	missed, scale := 0.0, 1.0
	stretches := make([]stretch, len(points))
	for i := 1; i < len(points); i++ {
		scale = max(scale, math.Abs(points[i-1].Value)/usual, math.Abs(points[i].Value)/usual)
		stretches[i] = stretchOf(points[i-1], points[i])
		missed += stretches[i].missed
	}
	for i := 1; i < len(points); i++ {
		misses := missed > mayMiss*scale && stretches[i].missed > mayMiss*scale/float64(len(points))
		if misses || stretches[i].turned > mayTurn*scale {
			places, at = append(places, i), append(at, (points[i-1].At+points[i].At)/2)
		}
	}
	return places, at
}
