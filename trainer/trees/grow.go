package trees

// grower grows trees on one set of rows.
type grower struct {
	data   *binned
	config Config
	// gradients and hessians are the derivatives of the loss by row.
	gradients, hessians []int64
	// rows lists all rows so that every leaf has a range of its own.
	rows []int32
	// features are those the tree may split on, ascending.
	features []int

	// free are histograms of all features that no leaf holds.
	free []histogram
	// near holds a leaf's derivatives in its own order.
	near [2][]int64
	// spare holds the rows that go right while a leaf is cut.
	spare []int32
	// nodes are those of the tree so far.
	nodes []growing
}

// growing is a node of a tree that is being grown.
type growing struct {
	from, to int
	depth    int
	all      sums
	// best is the split to make, with gain 0 if there is none.
	best split
	// sums are the histograms of all features, one behind the other, of a leaf
	// that may be cut.
	sums histogram
	// left is the position of the left child, 0 for a leaf; right follows it.
	left int
}

func newGrower(data *binned, config Config) *grower {
	g := &grower{
		data: data, config: config,
		gradients: make([]int64, data.rows), hessians: make([]int64, data.rows),
		rows: make([]int32, data.rows), spare: make([]int32, data.rows),
	}
	g.near[0], g.near[1] = make([]int64, data.rows), make([]int64, data.rows)
	return g
}

// grow returns the tree for the present derivatives. It splits the leaf with
// the highest gain until there are enough leaves or none gains; of equal leaves
// the oldest goes first.
func (g *grower) grow() tree {
	for i := range g.rows {
		g.rows[i] = int32(i)
	}
	root := growing{to: len(g.rows), all: g.total()}
	if g.mayCut(&root) {
		g.gather(&root)
		for _, f := range g.features {
			g.measure(&root, f)
		}
	}
	g.nodes = append(g.nodes[:0], root)
	for leaves := 1; leaves < g.config.MaxLeaves; leaves++ {
		next := -1
		for i, n := range g.nodes {
			if n.left == 0 && n.best.gain > 0 && (next < 0 || n.best.gain > g.nodes[next].best.gain) {
				next = i
			}
		}
		if next < 0 {
			break
		}
		g.cut(next)
	}
	for i := range g.nodes {
		g.release(&g.nodes[i])
	}
	if len(g.nodes) == 1 {
		// Without a split there is nothing to tell rows apart by. Boosting what
		// all have in common, once per round, would end in certainty.
		g.nodes[0].all = sums{}
	}
	return g.flatten(make(tree, 0, len(g.nodes)), 0)
}

func (g *grower) total() sums {
	s := sums{rows: len(g.rows)}
	for i, v := range g.gradients {
		s.gradient += v
		s.hessian += g.hessians[i]
	}
	return s
}

// mayCut reports whether the options let a leaf be cut.
func (g *grower) mayCut(n *growing) bool {
	return n.all.rows >= 2*g.config.MinChildRows && (g.config.MaxDepth == 0 || n.depth < g.config.MaxDepth)
}

// gather gives a leaf histograms to fill and puts its derivatives side by side.
func (g *grower) gather(n *growing) {
	for k, i := range g.rows[n.from:n.to] {
		g.near[0][k], g.near[1][k] = g.gradients[i], g.hessians[i]
	}
	if last := len(g.free) - 1; last >= 0 {
		n.sums, g.free = g.free[last], g.free[:last]
		return
	}
	n.sums = make(histogram, g.data.offsets[len(g.data.thresholds)])
}

func (g *grower) release(n *growing) {
	if n.sums != nil {
		g.free = append(g.free, n.sums)
		n.sums = nil
	}
}

// measure adds up a gathered leaf by one feature and looks for a split. Of
// equal splits the lowest feature wins.
func (g *grower) measure(n *growing, f int) {
	h := g.data.part(n.sums, f)
	h.fill(g.data.column(f), g.rows[n.from:n.to], g.near[0], g.near[1])
	h.improve(&n.best, f, n.all, &g.config)
}

// cut splits a leaf.
func (g *grower) cut(at int) {
	n := g.nodes[at]
	middle := g.divide(&n)
	left := growing{from: n.from, to: middle, depth: n.depth + 1, all: n.best.left}
	right := growing{from: middle, to: n.to, depth: n.depth + 1, all: n.all.minus(n.best.left)}
	small, large := &left, &right
	if left.all.rows > right.all.rows {
		small, large = large, small
	}
	if g.mayCut(large) {
		g.search(small, large, n.sums)
		g.nodes[at].sums = nil
	} else {
		g.release(&g.nodes[at])
	}
	g.nodes[at].left = len(g.nodes)
	g.nodes = append(g.nodes, left, right)
}

// divide sorts the rows of a leaf by side and returns where the right side
// begins. Rows keep their order within each.
func (g *grower) divide(n *growing) int {
	column := g.data.column(n.best.feature)
	left, right := n.from, 0
	for _, i := range g.rows[n.from:n.to] {
		if column[i] <= n.best.bin {
			g.rows[left] = i
			left++
		} else {
			g.spare[right] = i
			right++
		}
	}
	copy(g.rows[left:n.to], g.spare[:right])
	return left
}

// search finds the best splits of two siblings. Only the smaller one's rows are
// added up; the larger one's sums are what is left of their parent's, whose
// histograms it takes over.
func (g *grower) search(small, large *growing, parent histogram) {
	g.gather(small)
	large.sums = parent
	column, rows := g.data.column, g.rows[small.from:small.to]
	both := g.mayCut(small)
	for _, f := range g.features {
		own, other := g.data.part(small.sums, f), g.data.part(large.sums, f)
		own.fill(column(f), rows, g.near[0], g.near[1])
		if both {
			own.improve(&small.best, f, small.all, &g.config)
		}
		other.subtract(own)
		other.improve(&large.best, f, large.all, &g.config)
	}
	if !both {
		g.release(small)
	}
}

// flatten appends the subtree at a node in preorder.
func (g *grower) flatten(t tree, at int) tree {
	n := g.nodes[at]
	if n.left == 0 {
		return append(t, node{feature: leaf, value: g.leafValue(n.all)})
	}
	here := len(t)
	t = append(t, node{feature: int32(n.best.feature), value: g.data.thresholds[n.best.feature][n.best.bin]})
	t = g.flatten(t, n.left)
	t[here].right = uint32(len(t))
	return g.flatten(t, n.left+1)
}

// leaves calls a function with the rows and the value of every leaf of the last
// tree.
func (g *grower) leaves(visit func(rows []int32, value float32)) {
	for _, n := range g.nodes {
		if n.left == 0 {
			visit(g.rows[n.from:n.to], g.leafValue(n.all))
		}
	}
}

// leafValue is the Newton step of a leaf, -G/(H+λ), shrunk.
func (g *grower) leafValue(s sums) float32 {
	h := float64(float64(s.hessian)/fixedPoint) + g.config.L2
	if h == 0 {
		return 0
	}
	return float32(g.config.LearningRate * (float64(-s.gradient) / fixedPoint) / h)
}
