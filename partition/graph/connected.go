package graph

import "lethe"

// Connected is a graph without its isolated nodes, which a spectral embedding cannot place
// because they have no edges.
type Connected struct {
	Graph *Graph
	// Kept holds the node of the whole graph for each node of this one; Isolated holds the others.
	// Both ascend.
	Kept, Isolated []uint32
}

// WithoutIsolated returns the graph without its isolated nodes.
func (g *Graph) WithoutIsolated() *Connected {
	c := &Connected{}
	position := make([]uint32, g.N())
	for i := range position {
		if len(g.Neighbors(i)) == 0 {
			c.Isolated = append(c.Isolated, uint32(i))
			continue
		}
		position[i] = uint32(len(c.Kept))
		c.Kept = append(c.Kept, uint32(i))
	}
	if len(c.Isolated) == 0 {
		c.Graph = g
		return c
	}
	c.Graph = &Graph{
		start:       make([]int, 1, len(c.Kept)+1),
		neighbours:  make([]uint32, len(g.neighbours)),
		classes:     make([]uint8, len(c.Kept)),
		classCounts: make([]int, g.NumClasses()),
	}
	// Without isolated nodes, the rows keep their positions.
	for k, j := range g.neighbours {
		c.Graph.neighbours[k] = position[j]
	}
	for at, i := range c.Kept {
		c.Graph.start = append(c.Graph.start, g.start[i+1])
		c.Graph.classes[at] = g.Class(int(i))
		c.Graph.classCounts[g.Class(int(i))]++
	}
	return c
}

// Complete extends an assignment of the connected nodes to all nodes of g. Every isolated node
// goes to the shard with the most room for its class; ties go to the smaller shard, then to the
// lower one. If the assignment is within the quotas, this fills them.
func (c *Connected) Complete(g *Graph, inner Assignment, q *Quotas) Assignment {
	a := make(Assignment, g.N())
	missing := q.Room()
	sizes := make([]int, q.shards)
	put := func(i uint32, s lethe.ShardID) {
		a[i] = s
		missing.Of(g.Class(int(i)))[s]--
		sizes[s]++
	}
	for at, i := range c.Kept {
		put(i, inner[at])
	}
	for _, i := range c.Isolated {
		short, best := missing.Of(g.Class(int(i))), 0
		for s := range short {
			if short[s] > short[best] || short[s] == short[best] && sizes[s] < sizes[best] {
				best = s
			}
		}
		put(i, lethe.ShardID(best))
	}
	return a
}
