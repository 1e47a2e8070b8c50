package similarity

import (
	"encoding"
	"fmt"

	"lethe/canonical"
)

const (
	histogramMagic   = "LPMH"
	histogramVersion = 1
)

var (
	_ encoding.BinaryMarshaler   = (*Histogram)(nil)
	_ encoding.BinaryUnmarshaler = (*Histogram)(nil)
)

// MarshalBinary returns the histogram's canonical bytes: dimensions, levels,
// number of nodes, then index and count of each occupied cell, ascending. Equal
// histograms have equal bytes. It never fails.
func (h *Histogram) MarshalBinary() ([]byte, error) {
	w := canonical.NewWriter(histogramMagic, histogramVersion)
	w.Uint8(uint8(h.dimensions))
	w.Uint8(uint8(h.levels))
	w.Uint32(uint32(h.numNodes))
	w.Count(len(h.cells))
	for _, c := range h.cells {
		w.Uint32(c.index)
		w.Uint32(c.count)
	}
	return w.Seal(), nil
}

// UnmarshalBinary decodes what MarshalBinary returned. It rejects bytes that are not canonical with
// canonical.ErrCorrupt or canonical.ErrVersion, and leaves the receiver unchanged then.
func (h *Histogram) UnmarshalBinary(data []byte) error {
	r, err := canonical.NewReader(data, histogramMagic, histogramVersion)
	if err != nil {
		return fmt.Errorf("histogram: %w", err)
	}
	got := Histogram{dimensions: int(r.Uint8()), levels: int(r.Uint8()), numNodes: int(r.Uint32())}
	if n := r.Count(8); n > 0 {
		got.cells = make([]cell, n)
	}
	for i := range got.cells {
		got.cells[i] = cell{index: r.Uint32(), count: r.Uint32()}
	}
	if err := r.Close(); err != nil {
		return fmt.Errorf("histogram: %w", err)
	}
	if err := got.check(); err != nil {
		return fmt.Errorf("histogram: %w: %w", canonical.ErrCorrupt, err)
	}
	got.fold()
	*h = got
	return nil
}

// check reports the first violated invariant of a histogram: every dimension counts every node
// once, in occupied cells that ascend.
func (h *Histogram) check() error {
	shape := Config{Dimensions: h.dimensions, Levels: h.levels, DenseLimit: 1}
	if err := shape.Validate(); err != nil {
		return fmt.Errorf("pyramid: %w", err)
	}
	total := make([]int, h.dimensions)
	for i, c := range h.cells {
		if c.index >= uint32(h.dimensions)<<h.levels || c.count == 0 {
			return fmt.Errorf("cell %d counts %d nodes in index %d", i, c.count, c.index)
		}
		if i > 0 && h.cells[i-1].index >= c.index {
			return fmt.Errorf("cells %d and %d are not ascending", i-1, i)
		}
		total[c.index>>h.levels] += int(c.count)
	}
	for d, n := range total {
		if n != h.numNodes {
			return fmt.Errorf("dimension %d counts %d nodes of %d", d, n, h.numNodes)
		}
	}
	return nil
}
