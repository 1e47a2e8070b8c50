package trees

import (
	"math"
	"slices"
)

// sorter sorts columns by their bits, 11 at a time, from the lowest on.
type sorter struct {
	keys, spare []uint32
	sorted      []float32
}

const (
	digits    = 3
	digitBits = 11
	// fewValues is how many a comparison sort has done with first.
	fewValues = 1 << 10
)

func newSorter(n int) *sorter {
	return &sorter{keys: make([]uint32, n), spare: make([]uint32, n), sorted: make([]float32, n)}
}

// sort returns the numbers among the values, ascending. They are valid until the
// next call.
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

// radix sorts the keys in place. Equal ones are the same, so only counts matter.
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

// ascending returns a whole number per value, in the same order. Both zeros have
// one.
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

// ascended turns ascending back.
func ascended(k uint32) float32 {
	if k>>31 != 0 {
		return math.Float32frombits(k &^ (1 << 31))
	}
	return math.Float32frombits(^k)
}

// lookup finds the bins of values: those between two multiples of 2^21 in the
// order of ascending share a cell, which says where to begin to look.
type lookup struct {
	thresholds []float32
	starts     [1<<digitBits + 1]uint8
}

func newLookup(thresholds []float32) *lookup {
	l := &lookup{thresholds: thresholds}
	at := 0
	for cell := range l.starts {
		for at < len(thresholds) && int(ascending(thresholds[at])>>(32-digitBits)) < cell {
			at++
		}
		l.starts[cell] = uint8(at)
	}
	return l
}

// fill stores the bin of every value: the number of thresholds below it, and for
// a missing one the bin behind the last.
func (l *lookup) fill(bins []uint8, values []float32) {
	for i, v := range values {
		if v != v {
			bins[i] = uint8(len(l.thresholds) + 1)
			continue
		}
		cell := ascending(v) >> (32 - digitBits)
		from, to := int(l.starts[cell]), int(l.starts[cell+1])
		for from < to {
			if middle := (from + to) / 2; l.thresholds[middle] < v {
				from = middle + 1
			} else {
				to = middle
			}
		}
		bins[i] = uint8(from)
	}
}
