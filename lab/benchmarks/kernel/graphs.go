package main

import (
	"lethe"
	"lethe/scoring/similarity"
)

// graph is a simple undirected graph.
type graph struct {
	nodes int
	edges []lethe.Edge
}

func (g graph) histogram() (*similarity.Histogram, error) {
	return similarity.HistogramOf(g.nodes, g.edges, similarity.Defaults())
}

// grow makes a timestep: each node joins one drawn in proportion to its edges
// so far, then random pairs are joined.
func grow(seed uint64) graph {
	draw := lethe.NewDraw(seed, "benchmark/timestep")
	edges := []lethe.Edge{{A: 0, B: 1}}
	for i := uint32(2); i < nodes; i++ {
		e := edges[draw.IntN(len(edges))]
		edges = append(edges, lethe.Edge{A: []uint32{e.A, e.B}[draw.IntN(2)], B: i})
	}
	for len(edges) < payments {
		if a, b := uint32(draw.IntN(nodes)), uint32(draw.IntN(nodes)); a != b {
			edges = append(edges, lethe.Edge{A: min(a, b), B: max(a, b)})
		}
	}
	return graph{nodes: nodes, edges: edges}
}

// deal gives every node to a random shard and every cut edge's ends a stub.
func deal(g graph, seed uint64) []graph {
	draw := lethe.NewDraw(seed, "benchmark/shards")
	out := make([]graph, shards)
	shard, local := make([]int, g.nodes), make([]uint32, g.nodes)
	for i := range g.nodes {
		shard[i] = draw.IntN(shards)
		local[i] = uint32(out[shard[i]].nodes)
		out[shard[i]].nodes++
	}
	for _, e := range g.edges {
		if shard[e.A] == shard[e.B] {
			s := &out[shard[e.A]]
			s.edges = append(s.edges, lethe.Edge{A: local[e.A], B: local[e.B]})
			continue
		}
		for _, end := range []uint32{e.A, e.B} {
			s := &out[shard[end]]
			s.edges = append(s.edges, lethe.Edge{A: local[end], B: uint32(s.nodes)})
			s.nodes++
		}
	}
	return out
}
