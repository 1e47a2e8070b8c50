package report

import (
	"fmt"
	"math"
)

// Sample is one figure over repetitions, such as splits.
type Sample []float64

// Mean is the arithmetic mean, or not a number without repetitions.
func (s Sample) Mean() float64 {
	sum := 0.0
	for _, v := range s {
		sum += v
	}
	return sum / float64(len(s))
}

// Deviation is the sample standard deviation (n-1), 0 for one repetition.
func (s Sample) Deviation() float64 {
	if len(s) < 2 {
		return 0
	}
	mean, sum := s.Mean(), 0.0
	for _, v := range s {
		sum += float64((v - mean) * (v - mean))
	}
	return math.Sqrt(sum / float64(len(s)-1))
}

// Percent prints a share of 1 as a percentage with its deviation, "71.3±2.0".
func (s Sample) Percent() string { return s.scaled(100, 1) }

// Text prints the mean with its deviation to a number of decimals.
func (s Sample) Text(decimals int) string { return s.scaled(1, decimals) }

func (s Sample) scaled(factor float64, decimals int) string {
	if len(s) == 0 || math.IsNaN(s.Mean()) {
		return Missing
	}
	mean := fmt.Sprintf("%.*f", decimals, factor*s.Mean())
	if len(s) == 1 {
		return mean
	}
	return fmt.Sprintf("%s±%.*f", mean, decimals, factor*s.Deviation())
}

// Normalised is the paper's score: where x lies between a low and a high, as 0
// and 100. It is not a number when the two are equal.
func Normalised(x, low, high float64) float64 {
	if high == low {
		return math.NaN()
	}
	return 100 * (x - low) / (high - low)
}

// Number prints a figure to a number of decimals, or Missing.
func Number(x float64, decimals int) string {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return Missing
	}
	return fmt.Sprintf("%.*f", decimals, x)
}
