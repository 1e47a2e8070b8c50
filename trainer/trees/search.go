package trees

// queue is a heap of leaves by the gain of their splits; ties go to the oldest.
type queue struct {
	nodes []growing
	order []int
}

// Len, Less and Swap are for container/heap.
func (q *queue) Len() int { return len(q.order) }

func (q *queue) Less(i, j int) bool {
	a, b := q.order[i], q.order[j]
	if x, y := q.nodes[a].best.gain, q.nodes[b].best.gain; x != y {
		return x > y
	}
	return a < b
}

func (q *queue) Swap(i, j int) { q.order[i], q.order[j] = q.order[j], q.order[i] }

// Push is for container/heap.
func (q *queue) Push(x any) { q.order = append(q.order, x.(int)) }

// Pop is for container/heap.
func (q *queue) Pop() any {
	last := len(q.order) - 1
	x := q.order[last]
	q.order = q.order[:last]
	return x
}

// mayCut reports whether the configuration allows splitting a leaf.
func (g *grower) mayCut(n *growing) bool {
	return n.to-n.from >= 2*g.config.MinChildRows && (g.config.MaxDepth == 0 || n.depth < g.config.MaxDepth)
}

// gather copies a leaf's cells into a contiguous range.
func (g *grower) gather(n *growing) {
	for k, cells := range g.cells {
		near := g.near[k][:n.to-n.from]
		for at, i := range g.rows[n.from:n.to] {
			near[at] = cells[i]
		}
	}
}

// search finds the best splits of two siblings. It sums only the smaller one's rows; the larger
// one gets its parent's histograms and subtracts. The smaller one's cells must have been
// gathered.
func (g *grower) search(small, large, parent *growing) {
	switch {
	case g.direct:
		if g.mayCut(small) {
			g.measure(small)
		}
		if g.mayCut(large) {
			g.gather(large)
			g.measure(large)
		}
		return
	case !g.mayCut(large):
		g.release(parent)
		return
	}
	large.sums, parent.sums = parent.sums, nil
	g.lend(small)
	both := g.mayCut(small)
	for b := range g.bins.words {
		// Block by block, while its histograms are in the cache.
		g.fill(small, b)
		columns := g.blockColumns(b)
		for k := range g.outputs {
			for _, c := range columns {
				n := g.data.count(c.feature)
				subtract(g.histogram(large, k, c.position)[:n], g.histogram(small, k, c.position)[:n])
			}
		}
		g.choose(large, columns)
		if both {
			g.choose(small, columns)
		}
	}
}

// measure sums a gathered leaf, or the root, and searches a split.
func (g *grower) measure(n *growing) {
	g.lend(n)
	if g.direct {
		columns := drawColumns(g.columns, n.path, g.config.SplitShare)
		g.fillColumns(n, columns)
		g.choose(n, columns)
		g.release(n)
		return
	}
	for b := range g.bins.words {
		g.fill(n, b)
		g.choose(n, g.blockColumns(b))
	}
}

// blockColumns returns the features of a block.
func (g *grower) blockColumns(block int) []column {
	return g.columns[block*lanes : min(len(g.columns), (block+1)*lanes)]
}

// fill sums a leaf's rows by the features of a block.
func (g *grower) fill(n *growing, block int) {
	rows, words := g.rows[n.from:n.to], g.bins.words[block]
	most := 0
	for _, c := range g.blockColumns(block) {
		most = max(most, g.data.count(c.feature))
	}
	for k, near := range g.near {
		p := &n.sums[k*len(g.bins.words)+block]
		p.clear(most)
		if len(rows) == len(g.bag) {
			p.addAll(words, g.cells[k])
		} else {
			p.add(words, rows, near)
		}
	}
}

// fillColumns sums a leaf's rows by some features.
func (g *grower) fillColumns(n *growing, columns []column) {
	rows := g.rows[n.from:n.to]
	for k, near := range g.near {
		if len(rows) == len(g.bag) {
			near = g.cells[k] // the root's cells are in its order
		}
		for _, c := range columns {
			clear(g.histogram(n, k, c.position)[:g.data.count(c.feature)])
			block := c.position / lanes
			n.sums[k*len(g.bins.words)+block].addLane(c.position%lanes, g.bins.words[block], rows, near)
		}
	}
}

// choose searches a leaf's split on the given features, and compares it with the best so far. In
// a tie the lowest feature wins.
func (g *grower) choose(n *growing, columns []column) {
	if !g.isCareful {
		for _, c := range columns {
			g.limits.improve(&n.best, g.histogram(n, 0, c.position)[:], n.all[0], c)
		}
		return
	}
	search := g.careful
	search.all, search.bounds, search.draw = n.all, n.bounds, n.path
	for _, c := range columns {
		for k := range g.outputs {
			search.sums[k] = g.histogram(n, k, c.position)[:]
		}
		search.improve(&n.best, c)
	}
}

// histogram returns a leaf's histogram of an output by a feature.
func (g *grower) histogram(n *growing, output, position int) *[stride]cell {
	return &n.sums[output*len(g.bins.words)+position/lanes][position%lanes]
}

// lend gives a leaf histograms with arbitrary content.
func (g *grower) lend(n *growing) {
	need := g.outputs * len(g.bins.words)
	if last := len(g.free) - 1; last >= 0 {
		n.sums, g.free = g.free[last], g.free[:last]
		if cap(n.sums) >= need {
			n.sums = n.sums[:need]
			return
		}
	}
	n.sums = make([]plane, need)
}

// release takes the histograms back.
func (g *grower) release(n *growing) {
	if n.sums != nil {
		g.free = append(g.free, n.sums)
		n.sums = nil
	}
}
