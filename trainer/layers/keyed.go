package layers

import "math"

// Draw says what one keyed draw is for: an element of a matrix, or an edge and a
// head of an attention layer.
type Draw struct {
	// Site numbers the layers of the model that draw.
	Site uint64
	// Row and Other are positions in the batch; Other is the source of an edge.
	Row, Other int
	// Column is that of an element, or the head.
	Column int
}

// Replacement takes the place of keyed draws, to compare with masks and samples
// that were drawn elsewhere. Unset fields leave the keyed draws.
type Replacement struct {
	// Keep reports whether dropout keeps a value.
	Keep func(Draw) bool
	// Pairs returns the pairs of an attention loss.
	Pairs func(site uint64) []Pair
}

// mixKey is the finaliser of SplitMix64.
func mixKey(z uint64) uint64 {
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

// rowKey keys the draws of one layer for a row by the step and the row's
// pseudonym.
func (w *Workspace) rowKey(site uint64, row int) uint64 {
	return mixKey(mixKey(w.Key+site*0x9e3779b97f4a7c15) ^ w.Batch.Keys[row])
}

// pairKey keys the draws for an ordered pair of rows, the first given by its key.
func (w *Workspace) pairKey(row uint64, other int) uint64 {
	return mixKey(row + pairStep ^ w.Batch.Keys[other])
}

// pairStep keeps the draws of pairs apart from those of their first row.
const pairStep = 0x9e3779b97f4a7c15

// drawn appends the rows whose pairKey with the row of the given key is, in its
// upper half, below the limit. It looks at every row, so nothing else happens in
// its loop.
func (b *Batch) drawn(into []uint32, row, limit uint64) []uint32 {
	row += pairStep
	for j, other := range b.Keys {
		if mixKey(row^other)>>32 < limit {
			into = append(into, uint32(j))
		}
	}
	return into
}

// dropLimit is below which a draw of 32 bits drops with probability p.
func dropLimit(p float64) uint64 { return uint64(p * (1 << 32)) }

// draws holds the draws of 32 bits that a key gives two neighbouring columns,
// the even one in the lower half.
func draws(key uint64, column int) uint64 {
	return mixKey(key + uint64(column/2+1)*0x9e3779b97f4a7c15)
}

// unless returns value, or 0 if the lower half of a draw is below the limit. A
// branch would be mispredicted half of the time.
func unless(draw, limit uint64, value float32) float32 {
	dropped := uint32(int64(draw&math.MaxUint32-limit) >> 63)
	return math.Float32frombits(math.Float32bits(value) &^ dropped)
}

// fillMask stores 0 or rest for every column, drawn by the key.
func fillMask(mask []float32, key, limit uint64, rest float32) {
	for c := 0; c+1 < len(mask); c += 2 {
		d := draws(key, c)
		mask[c], mask[c+1] = unless(d, limit, rest), unless(d>>32, limit, rest)
	}
	if last := len(mask) - 1; last%2 == 0 {
		mask[last] = unless(draws(key, last), limit, rest)
	}
}

// site numbers a layer that draws.
func (b *Builder) site() uint64 {
	b.sites++
	return b.sites - 1
}
