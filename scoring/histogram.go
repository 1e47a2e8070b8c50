package scoring

import (
	"errors"

	"lethe"
)

// borderTolerance, in cells, is how far below a cell's lower border an entry
// may lie and still count as on it. Entries such as 1/2 sit exactly on a border
// in small regular components, where rounding must not decide.
const borderTolerance = 1e-6

// ErrIncompatible marks histograms of different shapes. The caller should
// compute both with the same PyramidOptions.
var ErrIncompatible = errors.New("histograms differ in dimensions or levels")

// Histogram is a graph as the pyramid match kernel sees it: how many nodes lie
// in each cell of the finest level, for each dimension by itself. Coarser
// levels are sums of these counts. It holds no identifier; like a slice it is
// derived from records, so an erasure replaces it.
//
// A nil Histogram stands for an empty graph.
type Histogram struct {
	numNodes, dimensions, levels int
	// cells are the occupied ones, ascending by index.
	cells []cell
}

// cell is an occupied cell; index is dimension<<levels plus the position on
// the finest level.
type cell struct{ index, count uint32 }

// HistogramOf embeds a graph (see Embed for the rules, the bounds and the
// errors) and counts its nodes per cell. Level l has 2^l equal cells of [0, 1],
// each closed at its lower border, the last at both.
func HistogramOf(numNodes int, edges []lethe.Edge, opts PyramidOptions) (*Histogram, error) {
	opts.EnsureDefaults()
	e, err := Embed(numNodes, edges, opts)
	if err != nil {
		return nil, err
	}
	perDimension := 1 << opts.Levels
	counts := make([]uint32, opts.Dimensions*perDimension)
	for i := range numNodes {
		for d, entry := range e.Row(i) {
			at := int(entry*float64(perDimension) + borderTolerance)
			counts[d<<opts.Levels+min(at, perDimension-1)]++
		}
	}
	h := &Histogram{numNodes: numNodes, dimensions: opts.Dimensions, levels: opts.Levels}
	for i, n := range counts {
		if n > 0 {
			h.cells = append(h.cells, cell{uint32(i), n})
		}
	}
	return h, nil
}

// HistogramOfSlice returns the histogram of a shard's part of one timestep as
// the shard's model sees it: the kept edges, and each repair stub as a node
// joined to its owner (Wang et al. compare repaired subgraphs).
func HistogramOfSlice(s *lethe.Slice, opts PyramidOptions) (*Histogram, error) {
	edges := make([]lethe.Edge, 0, len(s.Edges)+len(s.Stubs))
	edges = append(edges, s.Edges...)
	for i, stub := range s.Stubs {
		edges = append(edges, lethe.Edge{A: stub.Owner, B: uint32(len(s.Nodes) + i)})
	}
	return HistogramOf(len(s.Nodes)+len(s.Stubs), edges, opts)
}

// NumNodes returns the number of nodes counted in each dimension.
func (h *Histogram) NumNodes() int {
	if h == nil {
		return 0
	}
	return h.numNodes
}

// fold returns the counts of level l, dimension by dimension, from those of
// the next finer level.
func fold(counts []int64) []int64 {
	out := make([]int64, len(counts)/2)
	for i := range out {
		out[i] = counts[2*i] + counts[2*i+1]
	}
	return out
}

// finest returns the counts of the finest level, empty cells included.
func (h *Histogram) finest() []int64 {
	out := make([]int64, h.dimensions<<h.levels)
	for _, c := range h.cells {
		out[c.index] = int64(c.count)
	}
	return out
}
