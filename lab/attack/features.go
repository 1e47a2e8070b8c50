package attack

import (
	"cmp"
	"math"
	"slices"
)

// feature is what an attack classifier sees of the posteriors of one target
// before and after an erasure: the five of Chen et al. 2021, section 3.4.
type feature struct {
	name string
	of   func(before, after []float64) []float64
}

// features lists them in the paper's order. A sorted one puts both posteriors
// in the descending order of the first.
func features() []feature {
	sorted := func(f func(b, a []float64) []float64) func(b, a []float64) []float64 {
		return func(b, a []float64) []float64 { return f(sortByFirst(b, a)) }
	}
	return []feature{
		{"direct-concat", concat},
		{"sorted-concat", sorted(concat)},
		{"direct-difference", difference},
		{"sorted-difference", sorted(difference)},
		{"euclidean", func(b, a []float64) []float64 { return []float64{euclidean(b, a)} }},
	}
}

func concat(before, after []float64) []float64 { return slices.Concat(before, after) }

func difference(before, after []float64) []float64 {
	out := make([]float64, len(before))
	for i := range out {
		out[i] = before[i] - after[i]
	}
	return out
}

// euclidean is the distance of two posteriors.
func euclidean(before, after []float64) float64 {
	sum := 0.0
	for _, d := range difference(before, after) {
		sum += float64(d * d)
	}
	return math.Sqrt(sum)
}

// sortByFirst returns both vectors in the descending order of the first, ties in
// the order of the entries.
func sortByFirst(before, after []float64) (b, a []float64) {
	order := make([]int, len(before))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(before[j], before[i]) })
	for _, i := range order {
		b, a = append(b, before[i]), append(a, after[i])
	}
	return b, a
}
