package similarity

// Cells returns index and count of the occupied cells, for transcripts.
func (h *Histogram) Cells() [][2]int {
	out := make([][2]int, 0, len(h.cells))
	for _, c := range h.cells {
		out = append(out, [2]int{int(c.index), int(c.count)})
	}
	return out
}

// Intersections returns I_0 to I_L: at level l the sum over cells of the
// smaller count, dimensions taken apart, which is the number of nodes that
// match at that level. It returns ErrIncompatible for histograms of different
// shapes; an empty graph, or nil, fits every shape.
func Intersections(a, b *Histogram) ([]float64, error) {
	if a.NumNodes() == 0 || b.NumNodes() == 0 {
		return []float64{0}, nil
	}
	if err := compatible(a, b); err != nil {
		return nil, err
	}
	out := make([]float64, a.levels+1)
	for l := range out {
		out[l] = float64(matches(a.level(l), b.level(l)))
	}
	return out, nil
}
