package trees

import (
	"math"
	"slices"

	"lethe"
	"lethe/trainer/tabular"
)

// keys returns the keys of the rows' draws: the rows' own keys, or a digest of each row's values
// and class.
func keys(rows tabular.Rows) []uint64 {
	if rows.Keys != nil {
		return rows.Keys
	}
	out := make([]uint64, rows.Len())
	base := *lethe.NewDraw(0, "trees-row-values")
	for i, class := range rows.Labels {
		d := base.At(uint64(uint32(class)))
		for _, v := range rows.Row(i) {
			d = d.At(uint64(math.Float32bits(v)))
		}
		out[i] = d.Uint64()
	}
	return out
}

// sampler draws the rows of a round.
type sampler struct {
	keys      []uint64
	share     float64
	bag, rest []int32
}

func newSampler(rows tabular.Rows, share float64) *sampler {
	s := &sampler{share: share}
	if share < 1 {
		s.keys = keys(rows)
	} else {
		s.bag = everyRow(nil, rows.Len())
	}
	return s
}

// draw returns the rows in a round and the others, both ascending. If none of the drawn rows has
// any weight, it returns all rows. They are valid until the next call.
func (s *sampler) draw(base lethe.Draw, weight func(i int) float64) (bag, rest []int32) {
	if s.share == 1 {
		return s.bag, nil
	}
	s.bag, s.rest = s.bag[:0], s.rest[:0]
	weighs := false
	for i, key := range s.keys {
		if d := base.At(key); d.Float64() < s.share {
			s.bag = append(s.bag, int32(i))
			weighs = weighs || weight(i) > 0
		} else {
			s.rest = append(s.rest, int32(i))
		}
	}
	if !weighs {
		s.bag, s.rest = everyRow(s.bag[:0], len(s.keys)), s.rest[:0]
	}
	return s.bag, s.rest
}

// everyRow appends the numbers of n rows.
func everyRow(into []int32, n int) []int32 {
	for i := range n {
		into = append(into, int32(i))
	}
	return into
}

// drawFeatures returns the features that a round may split on, ascending.
func drawFeatures(features, round int, config Config) []int {
	all := make([]int, features)
	for i := range all {
		all[i] = i
	}
	if config.FeatureShare == 1 {
		return all
	}
	return chosen(all, config.FeatureShare, lethe.NewDraw(config.Seed, "trees-features", uint64(round)))
}

// chosen returns a share of a list, at least one, in its order.
func chosen(all []int, share float64, draw *lethe.Draw) []int {
	keep := min(len(all), max(1, int(share*float64(len(all)))))
	for i := range keep {
		j := i + draw.IntN(len(all)-i)
		all[i], all[j] = all[j], all[i]
	}
	slices.Sort(all[:keep])
	return all[:keep]
}
