package similarity

import (
	"errors"

	"lethe"
)

// borderTolerance, in cells, is how far below a cell's lower border an entry may be and still count
// as on it. Entries such as 1/2 are exactly on a border in small regular components, where rounding
// must not decide.
const borderTolerance = 1e-6

// ErrIncompatible marks histograms of different shapes. The caller should
// compute both with the same Config.
var ErrIncompatible = errors.New("histograms differ in dimensions or levels")

// Histogram is a graph's representation in the pyramid match kernel: the number of nodes in each
// cell of the finest level, for each dimension separately. Only occupied cells are stored; coarser
// levels are sums of these counts, and are cached so that a comparison is one pass over two short
// vectors. It holds no identifier; like a slice it is derived from records, so an erasure replaces
// it.
type Histogram struct {
	numNodes, dimensions, levels int
	// cells are the occupied ones, ascending by index.
	cells []cell
	// pyramid has the counts of all cells of every level, the finest first, and on each level
	// dimension by dimension. It is derived from cells.
	pyramid []uint32
}

// cell is an occupied cell; index is dimension<<levels plus the position on the finest level.
type cell struct{ index, count uint32 }

// HistogramOf embeds a graph (see Embed for the rules, the bounds and the
// errors) and counts its nodes per cell. Level l has 2^l equal cells of [0, 1],
// each closed at its lower border, the last at both.
func HistogramOf(numNodes int, edges []lethe.Edge, c Config) (*Histogram, error) {
	e, err := Embed(numNodes, edges, c)
	if err != nil {
		return nil, err
	}
	perDimension := 1 << c.Levels
	counts := make([]uint32, c.Dimensions*perDimension)
	for i := range numNodes {
		for d, entry := range e.Row(i) {
			at := int(float64(entry*float64(perDimension)) + borderTolerance)
			counts[d<<c.Levels+min(at, perDimension-1)]++
		}
	}
	h := &Histogram{numNodes: numNodes, dimensions: c.Dimensions, levels: c.Levels}
	for i, n := range counts {
		if n > 0 {
			h.cells = append(h.cells, cell{uint32(i), n})
		}
	}
	h.fold()
	return h, nil
}

// fold fills the pyramid from the occupied cells.
func (h *Histogram) fold() {
	finest := h.dimensions << h.levels
	h.pyramid = make([]uint32, 2*finest-h.dimensions)
	for _, c := range h.cells {
		h.pyramid[c.index] = c.count
	}
	for l := h.levels - 1; l >= 0; l-- {
		finer, coarser := h.level(l+1), h.level(l)
		for i := range coarser {
			coarser[i] = finer[2*i] + finer[2*i+1]
		}
	}
}

// level returns the counts on level l. The finer levels before it have 2^(levels+1) - 2^(l+1) cells
// per dimension.
func (h *Histogram) level(l int) []uint32 {
	from := h.dimensions * (2<<h.levels - 2<<l)
	return h.pyramid[from:][:h.dimensions<<l]
}

// HistogramOfSlice returns the histogram of a shard's part of one timestep as the shard's model
// sees it: the kept edges, and each repair stub as a node joined to its owner (Wang et al. compare
// repaired subgraphs).
func HistogramOfSlice(s *lethe.Slice, c Config) (*Histogram, error) {
	edges := make([]lethe.Edge, 0, len(s.Edges)+len(s.Stubs))
	edges = append(edges, s.Edges...)
	for i, stub := range s.Stubs {
		edges = append(edges, lethe.Edge{A: stub.Owner, B: uint32(len(s.Nodes) + i)})
	}
	return HistogramOf(len(s.Nodes)+len(s.Stubs), edges, c)
}

// NumNodes returns the number of nodes counted in each dimension.
func (h *Histogram) NumNodes() int { return h.numNodes }
