package trainer

import (
	"slices"

	"lethe"
)

// Around returns the part of a graph that is at most so many edges away from a row, and
// which rows it consists of, ascending. Its features are copies, and so it is not Shared.
// neighbours lists those of every row, as Neighbours does.
func (in Input) Around(row, reach int, neighbours [][]uint32) (part Input, rows []uint32) {
	seen := map[uint32]bool{uint32(row): true}
	rows = append(rows, uint32(row))
	for from := 0; reach > 0; reach-- {
		ring := rows[from:]
		from = len(rows)
		for _, i := range ring {
			for _, j := range neighbours[i] {
				if !seen[j] {
					seen[j] = true
					rows = append(rows, j)
				}
			}
		}
	}
	slices.Sort(rows)
	part = Input{Rows: len(rows), Cols: in.Cols}
	at := make(map[uint32]uint32, len(rows))
	for i, j := range rows {
		at[j] = uint32(i)
		part.Features = append(part.Features, in.row(int(j))...)
	}
	for i, j := range rows {
		for _, k := range neighbours[j] {
			if other, within := at[k]; within && uint32(i) < other {
				part.Edges = append(part.Edges, lethe.Edge{A: uint32(i), B: other})
			}
		}
	}
	return part, rows
}

// Neighbours lists those of every row, ascending.
func (in Input) Neighbours() [][]uint32 {
	out := make([][]uint32, in.Rows)
	for _, e := range in.Edges {
		out[e.A] = append(out[e.A], e.B)
		out[e.B] = append(out[e.B], e.A)
	}
	for i := range out {
		slices.Sort(out[i])
	}
	return out
}

// row returns the features of a row. It aliases the input.
func (in Input) row(i int) []float32 { return in.Features[i*in.Cols : (i+1)*in.Cols] }
