package loops

import "math"

// Draws are the keyed random draws that are frequent enough to need loops of their own. Every set
// computes the same.
type Draws interface {
	// Below appends the positions j for which the draw with key ^ keys[j], the upper half of Mix, is
	// below the limit.
	Below(into []uint32, keys []uint64, key, limit uint64) []uint32
	// Mask stores 0 in the columns whose ColumnDraw is below the limit and rest in
	// the others.
	Mask(mask []float32, key, limit uint64, rest float32)
	// MaskColumns stores 0 where the ColumnDraw of a value's column is below the
	// limit and rest·value elsewhere.
	MaskColumns(dst, values []float32, columns []uint32, key, limit uint64, rest float32)
}

// Mix is the finaliser of SplitMix64 (Steele, Lea and Flood, "Fast Splittable
// Pseudorandom Number Generators", OOPSLA 2014).
func Mix(z uint64) uint64 {
	z = (z ^ z>>30) * mixFirst
	z = (z ^ z>>27) * mixSecond
	return z ^ z>>31
}

// ColumnDraw is the 32-bit draw of a key for a column. Two neighbouring columns share a Mix; the
// even one uses its lower half.
func ColumnDraw(key uint64, column int) uint64 {
	return columnPair(key, column) >> (32 * (column % 2)) & math.MaxUint32
}

func columnPair(key uint64, column int) uint64 { return Mix(key + uint64(column/2+1)*mixStep) }

// unless returns value, or 0 if a 32-bit draw is below the limit. A branch would be mispredicted
// half of the time.
func unless(draw, limit uint64, value float32) float32 {
	dropped := uint32(int64(draw-limit) >> 63)
	return math.Float32frombits(math.Float32bits(value) &^ dropped)
}

const (
	mixStep   = 0x9e3779b97f4a7c15
	mixFirst  = 0xbf58476d1ce4e5b9
	mixSecond = 0x94d049bb133111eb
)

type plainDraws struct{}

// Below implements Draws.
func (plainDraws) Below(into []uint32, keys []uint64, key, limit uint64) []uint32 {
	for j, other := range keys {
		if Mix(key^other)>>32 < limit {
			into = append(into, uint32(j))
		}
	}
	return into
}

// Mask implements Draws.
func (plainDraws) Mask(mask []float32, key, limit uint64, rest float32) {
	for c := 0; c+1 < len(mask); c += 2 {
		d := columnPair(key, c)
		mask[c], mask[c+1] = unless(d&math.MaxUint32, limit, rest), unless(d>>32, limit, rest)
	}
	if last := len(mask) - 1; last%2 == 0 {
		mask[last] = unless(ColumnDraw(key, last), limit, rest)
	}
}

// MaskColumns implements Draws.
func (plainDraws) MaskColumns(dst, values []float32, columns []uint32, key, limit uint64, rest float32) {
	values, columns = values[:len(dst)], columns[:len(dst)]
	for k, v := range values {
		dst[k] = unless(ColumnDraw(key, int(columns[k])), limit, v*rest)
	}
}
