package citation

import (
	"fmt"
	"math"
	"slices"

	"lethe"
)

// takeGraph sets the nodes and the undirected edges.
func (g *Graph) takeGraph(in arrays) error {
	found, err := in.get("adj_indptr", "adj_indices")
	if err != nil {
		return err
	}
	n := len(found[0].values) - 1
	if n < 1 || n > math.MaxUint32 {
		return fmt.Errorf("adj_indptr has %d entries, want one more than there are nodes", n+1)
	}
	if shape := in["adj_shape"]; shape != nil {
		if dims, err := shape.ints(); err != nil || len(dims) != 2 || dims[0] != n || dims[1] != n {
			return fmt.Errorf("adj_shape is not %d by %d, which adj_indptr says", n, n)
		}
	}
	if g.Labels != nil && len(g.Labels) != n {
		return fmt.Errorf("labels has %d entries for %d nodes", len(g.Labels), n)
	}
	m, err := newCSR(found[0], found[1], n, n)
	if err != nil {
		return err
	}
	data := in["adj_data"]
	if data != nil && len(data.values) != len(m.indices) {
		return fmt.Errorf("adj_data has %d entries, adj_indices %d", len(data.values), len(m.indices))
	}
	g.NumNodes, g.AdjacencyEntries = n, len(m.indices)
	g.Edges = m.undirected(data)
	return nil
}

// undirected returns the simple undirected graph: A < B, ascending, each once.
// Entries whose data is 0 are no edges.
func (m *csr) undirected(data *array) []lethe.Edge {
	edges := make([]lethe.Edge, 0, len(m.indices))
	for i := range m.rows {
		for k := m.starts[i]; k < m.starts[i+1]; k++ {
			j := m.indices[k]
			if i == j || (data != nil && data.values[k] == 0) {
				continue
			}
			edges = append(edges, lethe.Edge{A: uint32(min(i, j)), B: uint32(max(i, j))})
		}
	}
	slices.SortFunc(edges, lethe.Edge.Compare)
	return slices.Compact(edges)
}
