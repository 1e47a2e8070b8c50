// Package undirected brings the edges of graphs without direction into one form.
package undirected

import (
	"fmt"
	"slices"

	"lethe"
)

// Simple returns the edges as A < B, ascending, each pair once. It returns an
// error if an edge joins a node to itself or names one of numNodes that does not
// exist.
func Simple(numNodes int, edges []lethe.Edge) ([]lethe.Edge, error) {
	out := make([]lethe.Edge, 0, len(edges))
	for i, e := range edges {
		if e.A == e.B || int(max(e.A, e.B)) >= numNodes {
			return nil, fmt.Errorf("edge %d joins %d and %d of %d nodes", i, e.A, e.B, numNodes)
		}
		out = append(out, lethe.Edge{A: min(e.A, e.B), B: max(e.A, e.B)})
	}
	slices.SortFunc(out, lethe.Edge.Compare)
	return slices.Compact(out), nil
}
