package protocol

import (
	"slices"

	"lethe"
)

// shareTest adds all test nodes to a shard's slice, behind its own, without labels and
// with their edges to each other and to the shard's nodes, if the settings say so.
func (t *graphRun) shareTest(s *lethe.Slice) *lethe.Slice {
	if !t.s.SharedTest {
		return s
	}
	const outside = -1
	local := slices.Repeat([]int{outside}, t.g.NumNodes())
	for i, p := range s.Nodes {
		local[rowOf(p)] = i
	}
	out := *s
	// Appending must not write behind the slices of the argument.
	out.Nodes, out.Labels = slices.Clip(out.Nodes), slices.Clip(out.Labels)
	out.Features, out.Edges = slices.Clip(out.Features), slices.Clip(out.Edges)
	for _, node := range t.split.Test {
		local[node] = len(out.Nodes)
		p := rowPseudonym(node)
		p[0] = 1 << 7 // above those of the shard's own
		out.Nodes, out.Labels = append(out.Nodes, p), append(out.Labels, lethe.Unknown)
		out.Features = append(out.Features, t.g.row(node)...)
	}
	for _, e := range t.g.Edges {
		a, b := local[e.A], local[e.B]
		if a != outside && b != outside && (t.split.isTest[e.A] || t.split.isTest[e.B]) {
			out.Edges = append(out.Edges, lethe.Edge{A: uint32(min(a, b)), B: uint32(max(a, b))})
		}
	}
	slices.SortFunc(out.Edges, lethe.Edge.Compare)
	return &out
}
