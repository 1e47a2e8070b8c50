package layers

import (
	"math"
	"slices"

	"lethe/trainer/kernels"
)

// sparseBelow is the share of nonzero values up to which features are stored as sparse rows.
const sparseBelow = 0.25

// Sparse is a matrix in compressed sparse rows: row i has the values
// Values[Starts[i]:Starts[i+1]] in the columns Columns[Starts[i]:Starts[i+1]],
// which ascend.
type Sparse struct {
	Rows, Cols int
	Starts     []int
	Columns    []uint32
	Values     []float32
	// original holds the Columns before Narrow, nil if they did not change.
	original   []uint32
	transposed *transposition
}

// Features is a matrix in dense or sparse form, whichever is smaller.
type Features struct {
	// Dense has no Data if Sparse is set.
	Dense  kernels.Matrix
	Sparse *Sparse
}

// NewFeatures stores a matrix as sparse rows if few of its values are nonzero.
func NewFeatures(m kernels.Matrix) Features {
	count := 0
	eachValue(m.Data, func(int, float32) { count++ })
	if len(m.Data) == 0 || float64(count) > sparseBelow*float64(len(m.Data)) {
		return Features{Dense: m}
	}
	s := &Sparse{
		Rows: m.Rows, Cols: m.Cols, Starts: make([]int, 1, m.Rows+1),
		Columns: make([]uint32, 0, count), Values: make([]float32, 0, count),
	}
	for i := range m.Rows {
		eachValue(m.Row(i), func(j int, v float32) {
			s.Columns, s.Values = append(s.Columns, uint32(j)), append(s.Values, v)
		})
		s.Starts = append(s.Starts, len(s.Values))
	}
	return Features{Dense: kernels.Matrix{Rows: m.Rows, Cols: m.Cols}, Sparse: s}
}

// eachValue visits the nonzero values, ascending. Most are 0, so eight zeros are skipped at once.
func eachValue(row []float32, visit func(j int, v float32)) {
	for from := 0; from < len(row); from += 8 {
		if from+8 <= len(row) && zeros((*[8]float32)(row[from:])) {
			continue
		}
		for j, v := range row[from:min(from+8, len(row))] {
			if v != 0 {
				visit(from+j, v)
			}
		}
	}
}

// zeros reports whether all values are 0 or -0.
func zeros(v *[8]float32) bool {
	bits := math.Float32bits(v[0]) | math.Float32bits(v[1]) | math.Float32bits(v[2]) | math.Float32bits(v[3]) |
		math.Float32bits(v[4]) | math.Float32bits(v[5]) | math.Float32bits(v[6]) | math.Float32bits(v[7])
	return bits<<1 == 0
}

// Narrow removes from sparse features the columns that are not kept, all of which must be empty.
// kept ascends, and width is at least its length. Random draws remain those of the original
// columns.
func (f *Features) Narrow(kept []uint32, width int) {
	s := f.Sparse
	to := make([]uint32, s.Cols)
	for k, c := range kept {
		to[c] = uint32(k)
	}
	s.original = s.Columns
	s.Columns = make([]uint32, len(s.original))
	for k, c := range s.original {
		s.Columns[k] = to[c]
	}
	s.Cols, f.Dense.Cols, s.transposed = width, width, nil
}

// Drawn returns the columns that are the keys of the values' draws.
func (s *Sparse) Drawn() []uint32 {
	if s.original == nil {
		return s.Columns
	}
	return s.original
}

// mul stores s·w, where w is cols × n.
func (s *Sparse) mul(rows kernels.Rows, dst, w kernels.Matrix) {
	rows.SumRows(dst, w, kernels.Lists{Starts: s.Starts, Rows: s.Columns, Weights: s.Values})
}

// transposition is a sparse matrix by columns: order holds each value's position in row order.
type transposition struct {
	kernels.Lists
	order []uint32
}

// transpose orders the values by columns, once.
func (s *Sparse) transpose() {
	if s.transposed != nil {
		return
	}
	t := &transposition{order: make([]uint32, len(s.Values))}
	t.Starts, t.Rows = make([]int, s.Cols+1), make([]uint32, len(s.Values))
	t.Weights = make([]float32, len(s.Values))
	for _, c := range s.Columns {
		t.Starts[c+1]++
	}
	for c := range s.Cols {
		t.Starts[c+1] += t.Starts[c]
	}
	next := slices.Clone(t.Starts)
	for i := range s.Rows {
		for k := s.Starts[i]; k < s.Starts[i+1]; k++ {
			at := next[s.Columns[k]]
			next[s.Columns[k]]++
			t.Rows[at], t.order[at], t.Weights[at] = uint32(i), uint32(k), s.Values[k]
		}
	}
	s.transposed = t
}

// Mask gives s the positions of from and other values.
func (s *Sparse) Mask(from *Sparse, values []float32) {
	from.transpose()
	if s.transposed == nil {
		s.transposed = new(transposition)
	}
	t := s.transposed
	*s = *from
	s.Values, s.transposed = values, t
	t.Starts, t.Rows, t.order = from.transposed.Starts, from.transposed.Rows, from.transposed.order
	t.Weights = slices.Grow(t.Weights[:0], len(values))[:len(values)]
	for at, k := range t.order {
		t.Weights[at] = values[k]
	}
}

// mulTransposed stores sᵀ·g, where g has the rows of s.
func (s *Sparse) mulTransposed(rows kernels.Rows, dst, g kernels.Matrix) {
	s.transpose()
	rows.SumRows(dst, g, s.transposed.Lists)
}

// addTo adds s to a matrix of its shape.
func (s *Sparse) addTo(dst kernels.Matrix) {
	for i := range s.Rows {
		row := dst.Row(i)
		for k := s.Starts[i]; k < s.Starts[i+1]; k++ {
			row[s.Columns[k]] += s.Values[k]
		}
	}
}
