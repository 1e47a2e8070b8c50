package citation

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
)

// takeFeatures sets the feature matrix from whichever form the archive has.
func (g *Graph) takeFeatures(in arrays) error {
	var err error
	if dense := in["attr_matrix"]; dense != nil {
		g.Features, err = fromDense(dense)
	} else {
		g.Features, err = fromCSR(in)
	}
	if err != nil {
		return err
	}
	if g.NumNodes > 0 && g.Features.Rows != g.NumNodes {
		hint := ""
		if g.Features.Columns == g.NumNodes {
			hint = ": they are transposed"
		}
		return fmt.Errorf("the features have %d rows for %d nodes%s", g.Features.Rows, g.NumNodes, hint)
	}
	return nil
}

func fromDense(a *array) (*Sparse, error) {
	if len(a.shape) != 2 || a.shape[1] < 1 || a.shape[1] > math.MaxInt32 {
		return nil, errors.New("attr_matrix is not a matrix with at least one column")
	}
	m := &Sparse{Rows: a.shape[0], Columns: a.shape[1], RowStart: []int{0}}
	for i := range m.Rows {
		for j := range m.Columns {
			v, err := a.float32At(i*m.Columns + j)
			if err != nil {
				return nil, err
			}
			if v != 0 {
				m.Column = append(m.Column, int32(j))
				m.Value = append(m.Value, v)
			}
		}
		m.RowStart = append(m.RowStart, len(m.Value))
	}
	return m, nil
}

func fromCSR(in arrays) (*Sparse, error) {
	found, err := in.get("attr_indptr", "attr_indices", "attr_data", "attr_shape")
	if err != nil {
		return nil, err
	}
	dims, err := found[3].ints()
	if err != nil {
		return nil, err
	}
	if len(dims) != 2 || dims[0] < 1 || dims[1] < 1 || dims[1] > math.MaxInt32 {
		return nil, errors.New("attr_shape is not a pair of positive numbers")
	}
	stored, err := newCSR(found[0], found[1], dims[0], dims[1])
	if err != nil {
		return nil, err
	}
	if got, want := len(found[2].values), len(stored.indices); got != want || len(found[2].shape) != 1 {
		return nil, fmt.Errorf("attr_data has %d entries, attr_indices %d", got, want)
	}
	m := &Sparse{Rows: dims[0], Columns: dims[1], RowStart: []int{0}}
	for i := range m.Rows {
		if err := m.appendRow(stored, found[2], i); err != nil {
			return nil, fmt.Errorf("row %d: %w", i, err)
		}
	}
	return m, nil
}

// appendRow copies row i with ascending columns and without stored zeros.
func (m *Sparse) appendRow(stored *csr, data *array, i int) error {
	order := make([]int, 0, stored.starts[i+1]-stored.starts[i])
	for k := stored.starts[i]; k < stored.starts[i+1]; k++ {
		order = append(order, k)
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Compare(stored.indices[a], stored.indices[b]) })
	for at, k := range order {
		if at > 0 && stored.indices[order[at-1]] == stored.indices[k] {
			return errors.New("attr_indices names a column twice")
		}
		v, err := data.float32At(k)
		if err != nil {
			return err
		}
		if v != 0 {
			m.Column = append(m.Column, int32(stored.indices[k]))
			m.Value = append(m.Value, v)
		}
	}
	m.RowStart = append(m.RowStart, len(m.Value))
	return nil
}
