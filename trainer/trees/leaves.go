package trees

// flatten returns the tree grown last.
func (g *grower) flatten(values leafValues, weights []float32) tree {
	return g.subtree(make(tree, 0, len(g.nodes)), 0, values, weights)
}

// leafValues computes a leaf's contribution to a score from its sums.
type leafValues func(n *growing) float32

// subtree appends the subtree at a node in preorder.
func (g *grower) subtree(t tree, at int, values leafValues, weights []float32) tree {
	n := &g.nodes[at]
	if n.left == 0 {
		return append(t, node{feature: leaf, value: values(n), cover: g.cover(n, weights)})
	}
	here := len(t)
	f := g.columns[n.best.position]
	t = append(t, node{
		feature: int32(f.feature), value: g.data.threshold(f.feature, n.best.bin), cover: g.cover(n, weights),
		missingLeft: n.best.missingLeft,
	})
	if !f.missing {
		// No row of the fit missed the feature: treat it as 0, like LightGBM.
		t[here].missingLeft = 0 <= t[here].value
	}
	t = g.subtree(t, n.left, values, weights)
	t[here].right = uint32(len(t))
	return g.subtree(t, n.left+1, values, weights)
}

// cover returns the weight of a node's rows, summed as integers.
func (g *grower) cover(n *growing, weights []float32) float32 {
	if weights == nil {
		return float32(n.to - n.from)
	}
	sum := int64(0)
	for _, i := range g.rows[n.from:n.to] {
		sum += fixed(float64(weights[g.bag[i]]))
	}
	return float32(float64(sum) / gradientUnit)
}

// leaves calls visit with the rows and the node of every leaf of the tree grown last.
func (g *grower) leaves(visit func(row int32, n *growing)) {
	for at := range g.nodes {
		n := &g.nodes[at]
		if n.left == 0 {
			for _, i := range g.rows[n.from:n.to] {
				visit(g.bag[i], n)
			}
		}
	}
}

// leafOf returns the leaf of a row in the tree grown last, whether or not the row is in the bag.
func (g *grower) leafOf(row int32) *growing {
	n := &g.nodes[0]
	for n.left != 0 {
		bin := g.data.column(g.columns[n.best.position].feature)[row]
		n = &g.nodes[n.left+1-int(n.goesLeft[bin])]
	}
	return n
}
