package layers

import "lethe/trainer/kernels"

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

// rowKey keys the draws of one layer for a row by the step and the row's
// pseudonym.
func (w *Workspace) rowKey(site uint64, row int) uint64 {
	return kernels.Mix(kernels.Mix(w.Key+site*0x9e3779b97f4a7c15) ^ w.Batch.Keys[row])
}

// pairKey keys the draws for an ordered pair of rows, the first given by its key.
func (w *Workspace) pairKey(row uint64, other int) uint64 {
	return kernels.Mix(row + pairStep ^ w.Batch.Keys[other])
}

// pairStep keeps the draws of pairs apart from those of their first row.
const pairStep = 0x9e3779b97f4a7c15

// drawn appends the rows whose pairKey with the row of the given key is, in its
// upper half, below the limit.
func (w *Workspace) drawn(into []uint32, row, limit uint64) []uint32 {
	return w.kernels.Draws.Below(into, w.Batch.Keys, row+pairStep, limit)
}

// dropLimit is below which a draw of 32 bits drops with probability p.
func dropLimit(p float64) uint64 { return uint64(p * (1 << 32)) }

// site numbers a layer that draws.
func (b *Builder) site() uint64 {
	b.sites++
	return b.sites - 1
}
