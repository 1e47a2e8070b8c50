package citation

import (
	"fmt"
	"math"
)

// csr is a matrix as an archive stores it, checked: starts begin with 0, do not
// fall and end with the number of indices; indices are in range.
type csr struct {
	starts, indices []int
	rows, columns   int
}

// newCSR checks the two arrays against the matrix' size.
func newCSR(starts, indices *array, rows, columns int) (*csr, error) {
	m := &csr{rows: rows, columns: columns}
	var err error
	if m.starts, err = starts.ints(); err != nil {
		return nil, err
	}
	if m.indices, err = indices.ints(); err != nil {
		return nil, err
	}
	if got := len(m.starts); got != rows+1 {
		return nil, fmt.Errorf("%s has %d entries, want %d for %d rows", starts.name, got, rows+1, rows)
	}
	if m.starts[0] != 0 {
		return nil, fmt.Errorf("%s does not begin with 0", starts.name)
	}
	for i := range rows {
		if m.starts[i] > m.starts[i+1] {
			return nil, fmt.Errorf("%s falls at row %d", starts.name, i)
		}
	}
	if got, want := len(m.indices), m.starts[rows]; got != want {
		return nil, fmt.Errorf("%s has %d entries, %s promises %d", indices.name, got, starts.name, want)
	}
	for k, j := range m.indices {
		if j < 0 || j >= columns {
			return nil, fmt.Errorf("%s: entry %d is outside 0..%d", indices.name, k, columns-1)
		}
	}
	return m, nil
}

// ints returns a one-dimensional integer array.
func (a *array) ints() ([]int, error) {
	if len(a.shape) != 1 || !a.whole {
		return nil, fmt.Errorf("%s is not a one-dimensional array of integers", a.name)
	}
	out := make([]int, len(a.values))
	for i, v := range a.values {
		if math.Abs(v) >= 1<<53 {
			return nil, fmt.Errorf("%s: entry %d is too large", a.name, i)
		}
		out[i] = int(v)
	}
	return out, nil
}

// float32At returns one value, which must be finite in 32 bits.
func (a *array) float32At(i int) (float32, error) {
	v := float32(a.values[i])
	if math.IsNaN(float64(v)) || math.IsInf(float64(v), 0) {
		return 0, fmt.Errorf("%s: entry %d is not finite", a.name, i)
	}
	return v, nil
}
