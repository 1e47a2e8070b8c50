// Package undirected normalises the edges of undirected graphs.
package undirected

import (
	"fmt"
	"slices"

	"lethe"
)

// Simple returns the edges with A < B, ascending, without duplicates. An edge that joins a node
// to itself, or names a node outside numNodes, is an error.
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
