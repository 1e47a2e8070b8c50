package trees

// grower grows trees on one set of rows.
type grower struct {
	data *binned
	opts Options
	// gradients and hessians are the derivatives of the loss by row.
	gradients, hessians []int64
	// rows lists all rows so that every leaf has a range of its own.
	rows []int32
	// features are those the tree may split on, ascending.
	features []int

	histogram histogram
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
	// left is the position of the left child, 0 for a leaf; right follows it.
	left int
}

func newGrower(data *binned, opts Options) *grower {
	g := &grower{
		data: data, opts: opts,
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
	g.nodes = g.nodes[:0]
	g.add(growing{to: len(g.rows), all: g.total()})
	for leaves := 1; leaves < g.opts.MaxLeaves; leaves++ {
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

// add appends a leaf and finds its best split.
func (g *grower) add(n growing) {
	if n.all.rows >= 2*g.opts.MinChildRows && (g.opts.MaxDepth == 0 || n.depth < g.opts.MaxDepth) {
		n.best = g.search(n)
	}
	g.nodes = append(g.nodes, n)
}

// search returns the best split of a leaf. Of equal ones the lowest feature
// wins.
func (g *grower) search(n growing) split {
	rows := g.rows[n.from:n.to]
	for k, i := range rows {
		g.near[0][k], g.near[1][k] = g.gradients[i], g.hessians[i]
	}
	best := split{}
	for _, f := range g.features {
		if len(g.data.thresholds[f]) == 0 {
			continue
		}
		g.histogram.fill(g.data.column(f), rows, g.near[0], g.near[1])
		if s := g.histogram.take(n.all, &g.opts); s.gain > best.gain {
			s.feature = f
			best = s
		}
	}
	return best
}

// cut splits a leaf. Rows keep their order within each half.
func (g *grower) cut(at int) {
	n := g.nodes[at]
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
	g.nodes[at].left = len(g.nodes)
	g.add(growing{from: n.from, to: left, depth: n.depth + 1, all: n.best.left})
	g.add(growing{from: left, to: n.to, depth: n.depth + 1, all: n.all.minus(n.best.left)})
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

// leafValue is the Newton step of a leaf, -G/(H+λ), shrunk.
func (g *grower) leafValue(s sums) float32 {
	h := float64(s.hessian)/fixedPoint + g.opts.L2
	if h == 0 {
		return 0
	}
	return float32(g.opts.LearningRate * (float64(-s.gradient) / fixedPoint) / h)
}
