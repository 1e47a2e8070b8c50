package partition

import "lethe"

// connected is a graph without its isolated nodes, which have no place in a
// spectral embedding: no edge says where they belong.
type connected struct {
	graph *Graph
	// kept holds the node of the whole graph for each node of this one; isolated
	// holds the others. Both ascend.
	kept, isolated []uint32
}

// withoutIsolated takes the isolated nodes out of a graph.
func withoutIsolated(g *Graph) *connected {
	c := &connected{}
	position := make([]uint32, g.N())
	for i := range position {
		if len(g.Neighbors(i)) == 0 {
			c.isolated = append(c.isolated, uint32(i))
			continue
		}
		position[i] = uint32(len(c.kept))
		c.kept = append(c.kept, uint32(i))
	}
	if len(c.isolated) == 0 {
		c.graph = g
		return c
	}
	c.graph = &Graph{
		start:       make([]int, 1, len(c.kept)+1),
		neighbours:  make([]uint32, len(g.neighbours)),
		classes:     make([]uint8, len(c.kept)),
		classCounts: make([]int, g.NumClasses()),
	}
	// Leaving out isolated nodes leaves the neighbours where they are.
	for k, j := range g.neighbours {
		c.graph.neighbours[k] = position[j]
	}
	for at, i := range c.kept {
		c.graph.start = append(c.graph.start, g.start[i+1])
		c.graph.classes[at] = g.Class(int(i))
		c.graph.classCounts[g.Class(int(i))]++
	}
	return c
}

// complete extends an assignment of the connected nodes to all nodes of g. Every
// isolated node goes where its class falls shortest of the quotas; among equals
// to the smaller shard, then to the lower one. Where the assignment keeps within
// the quotas this fills them.
func (c *connected) complete(g *Graph, inner Assignment, q *quotas) Assignment {
	a := make(Assignment, g.N())
	missing := q.room()
	sizes := make([]int, q.shards)
	put := func(i uint32, s lethe.ShardID) {
		a[i] = s
		missing.of(g.Class(int(i)))[s]--
		sizes[s]++
	}
	for at, i := range c.kept {
		put(i, inner[at])
	}
	for _, i := range c.isolated {
		short, best := missing.of(g.Class(int(i))), 0
		for s := range short {
			if short[s] > short[best] || short[s] == short[best] && sizes[s] < sizes[best] {
				best = s
			}
		}
		put(i, lethe.ShardID(best))
	}
	return a
}
