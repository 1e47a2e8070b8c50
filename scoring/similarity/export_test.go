package similarity

// Cells returns index and count of the occupied cells, for transcripts.
func (h *Histogram) Cells() [][2]int {
	out := make([][2]int, 0, len(h.cells))
	for _, c := range h.cells {
		out = append(out, [2]int{int(c.index), int(c.count)})
	}
	return out
}
