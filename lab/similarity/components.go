package similarity

import (
	"cmp"
	"math"
	"slices"

	"lethe"
)

// component is one connected component of at least two nodes, as a symmetric
// 0/1 matrix in compressed rows over local positions.
type component struct {
	// nodes are the positions in the whole graph, ascending.
	nodes []int
	// neighbours of local node i are targets[offsets[i]:offsets[i+1]], ascending.
	offsets, targets []int
	// bound is not below any |eigenvalue|: max over edges of sqrt(d_u d_v)
	// (Berman and Zhang, "On the spectral radius of graphs with cut vertices",
	// JCTB 2001).
	bound float64
}

// multiply sets dst to the adjacency matrix times src.
func (c *component) multiply(dst, src []float64) {
	for i := range dst {
		sum := 0.0
		for _, j := range c.targets[c.offsets[i]:c.offsets[i+1]] {
			sum += src[j]
		}
		dst[i] = sum
	}
}

// recur replaces before by scale times the adjacency matrix times current, minus before: the
// recurrence of the Chebyshev polynomials.
func (c *component) recur(before, current []float64, scale float64) {
	for i := range before {
		sum := 0.0
		for _, j := range c.targets[c.offsets[i]:c.offsets[i+1]] {
			sum += current[j]
		}
		before[i] = float64(scale*sum) - before[i]
	}
}

// splitComponents returns the components with at least one edge, the largest
// bound first, then by their first node. The eigenpairs of a graph are those of
// its components, which makes small pieces cheap and keeps equal pieces exact.
func splitComponents(numNodes int, edges []lethe.Edge) []*component {
	root := make([]int, numNodes)
	for i := range root {
		root[i] = i
	}
	find := func(i int) int {
		for root[i] != i {
			root[i] = root[root[i]]
			i = root[i]
		}
		return i
	}
	degree := make([]int, numNodes)
	for _, e := range edges {
		degree[e.A]++
		degree[e.B]++
		a, b := find(int(e.A)), find(int(e.B))
		// The smallest position is the root, so the numbering is deterministic.
		root[max(a, b)] = min(a, b)
	}
	var out []*component
	of := make([]*component, numNodes)
	local := make([]int, numNodes)
	for i := range numNodes {
		if degree[i] == 0 {
			continue
		}
		r := find(i)
		if of[r] == nil {
			of[r] = &component{offsets: []int{0}}
			out = append(out, of[r])
		}
		c := of[r]
		of[i] = c
		local[i] = len(c.nodes)
		c.nodes = append(c.nodes, i)
		c.offsets = append(c.offsets, c.offsets[len(c.offsets)-1]+degree[i])
	}
	fillTargets(out, of, local, edges)
	for _, e := range edges {
		c := of[e.A]
		c.bound = max(c.bound, math.Sqrt(float64(degree[e.A])*float64(degree[e.B])))
	}
	slices.SortStableFunc(out, func(a, b *component) int { return cmp.Compare(b.bound, a.bound) })
	return out
}

// fillTargets lists every node's neighbours in ascending order, which follows
// from the ascending edges: first those below the node, then those above.
func fillTargets(components []*component, of []*component, local []int, edges []lethe.Edge) {
	next := make([]int, len(local))
	for _, c := range components {
		c.targets = make([]int, c.offsets[len(c.nodes)])
		for l, node := range c.nodes {
			next[node] = c.offsets[l]
		}
	}
	put := func(from, to uint32) {
		of[from].targets[next[from]] = local[to]
		next[from]++
	}
	for _, e := range edges {
		put(e.B, e.A)
	}
	for _, e := range edges {
		put(e.A, e.B)
	}
}
