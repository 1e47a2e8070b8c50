package graphlayers

import (
	"lethe/lab/networks/loops"
	"lethe/trainer/layers"
)

// Draw identifies one keyed draw: for an element of a matrix, or for an edge and a head of an
// attention layer.
type Draw struct {
	// Site is the number of the layer among those that draw.
	Site uint64
	// Row and Other are positions in the batch; Other is the source of an edge.
	Row, Other int
	// Column is the column of an element, or the head.
	Column int
}

// Replacement replaces keyed draws, for comparison with masks and samples drawn elsewhere. If a
// field is unset, draws are keyed.
type Replacement struct {
	// Keep reports whether dropout keeps a value.
	Keep func(Draw) bool
	// Pairs returns the pairs of an attention loss.
	Pairs func(site uint64) []Pair
}

// rowKey returns the key of a layer's draws for a row, from the step and the row's pseudonym.
func rowKey(w *layers.Workspace, site uint64, row int) uint64 {
	return loops.Mix(loops.Mix(w.Key+site*0x9e3779b97f4a7c15) ^ w.Batch.Keys[row])
}

// pairKey returns the key of the draws for an ordered pair of rows, the first given by its key.
func pairKey(w *layers.Workspace, row uint64, other int) uint64 {
	return loops.Mix(row + pairStep ^ w.Batch.Keys[other])
}

// pairStep separates the draws of pairs from those of their first row.
const pairStep = 0x9e3779b97f4a7c15

// drawn appends the rows for which the upper half of pairKey with the row of the given key is
// below the limit.
func drawn(w *layers.Workspace, into []uint32, row, limit uint64) []uint32 {
	return loops.Of(w.Kernels).Draws.Below(into, w.Batch.Keys, row+pairStep, limit)
}

// dropLimit is the bound below which a 32-bit draw drops, for probability p.
func dropLimit(p float64) uint64 { return uint64(p * (1 << 32)) }
