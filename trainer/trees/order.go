package trees

import (
	"math"
	"math/bits"
	"slices"
)

// sorter is a radix sort of columns, 11 bits at a time from the lowest.
type sorter struct {
	keys, spare []uint32
	sorted      []float32
}

const (
	digits    = 3
	digitBits = 11
	// fewValues is the number of values below which a comparison sort is faster.
	fewValues = 1 << 10
)

func newSorter(n int) *sorter {
	return &sorter{keys: make([]uint32, n), spare: make([]uint32, n), sorted: make([]float32, n)}
}

// sort returns the non-missing values, ascending. They are valid until the next call.
func (s *sorter) sort(values []float32) []float32 {
	keys := s.keys[:0]
	for _, v := range values {
		if v == v {
			keys = append(keys, ascending(v))
		}
	}
	if len(keys) < fewValues {
		slices.Sort(keys)
	} else {
		s.radix(keys)
	}
	out := s.sorted[:len(keys)]
	for i, k := range keys {
		out[i] = ascended(k)
	}
	return out
}

// radix sorts the keys in place. Equal keys are identical, so only counts matter.
func (s *sorter) radix(keys []uint32) {
	from, to := keys, s.spare[:len(keys)]
	for digit := range digits {
		var starts [1 << digitBits]int
		shift := digit * digitBits
		for _, k := range from {
			starts[k>>shift&(1<<digitBits-1)]++
		}
		at := 0
		for d, n := range starts {
			starts[d] = at
			at += n
		}
		for _, k := range from {
			d := k >> shift & (1<<digitBits - 1)
			to[starts[d]] = k
			starts[d]++
		}
		from, to = to, from
	}
	copy(keys, from)
}

// ascending maps a value to an integer with the same order. Both zeros map to one integer.
func ascending(v float32) uint32 {
	bits := math.Float32bits(v + 0)
	if v == 0 {
		bits = 0
	}
	if bits>>31 != 0 {
		return ^bits
	}
	return bits | 1<<31
}

// ascended is the inverse of ascending.
func ascended(k uint32) float32 {
	if k>>31 != 0 {
		return math.Float32frombits(k &^ (1 << 31))
	}
	return math.Float32frombits(^k)
}

// lookup finds the bins of values.
type lookup struct {
	// keys are the thresholds as integers (see ascending), padded with values above all others to one less than a
	// power of two. Integers are compared without a branch, which would be mispredicted half of the time.
	keys    []uint64
	missing uint8
}

// above exceeds every result of ascending.
const above = 1 << 32

func newLookup(thresholds []float32) lookup {
	l := lookup{keys: make([]uint64, 1<<bits.Len(uint(len(thresholds)))-1), missing: uint8(len(thresholds) + 1)}
	for i := range l.keys {
		l.keys[i] = above
		if i < len(thresholds) {
			l.keys[i] = uint64(ascending(thresholds[i]))
		}
	}
	return l
}

// fill stores the bin of every value: the number of thresholds below it or, for a missing value,
// the bin after the last.
func (l lookup) fill(bins []uint8, values []float32) {
	bins = bins[:len(values)]
	for i, v := range values {
		if v != v {
			bins[i] = l.missing
			continue
		}
		key, at := uint64(ascending(v)), 0
		for step := (len(l.keys) + 1) / 2; step > 0; step /= 2 {
			at += step & -int((l.keys[at+step-1]-key)>>63) // the threshold is below
		}
		bins[i] = uint8(at)
	}
}
