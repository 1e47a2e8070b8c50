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
func (g *grower) mayCut(n *growing) bool { return n.to-n.from >= 2*g.config.MinChildRows }

// gather copies a leaf's cells into a contiguous range.
func (g *grower) gather(n *growing) {
	near := g.near[:n.to-n.from]
	for at, i := range g.rows[n.from:n.to] {
		near[at] = g.cells[i]
	}
}

// search finds the best splits of two siblings. It sums only the smaller one's rows; the larger
// one gets its parent's histograms and subtracts. The smaller one's cells must have been
// gathered.
func (g *grower) search(small, large, parent *growing) {
	if !g.mayCut(large) {
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
		for _, c := range columns {
			n := g.data.count(c.feature)
			subtract(g.histogram(large, c.position)[:n], g.histogram(small, c.position)[:n])
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
	p := &n.sums[block]
	p.clear(most)
	if len(rows) == len(g.bag) {
		p.addAll(words, g.cells)
	} else {
		p.add(words, rows, g.near)
	}
}

// choose searches a leaf's split on the given features, and compares it with the best so far. In
// a tie the lowest feature wins.
func (g *grower) choose(n *growing, columns []column) {
	for _, c := range columns {
		g.limits.improve(&n.best, g.histogram(n, c.position)[:], n.all, c)
	}
}

// histogram returns a leaf's histogram of a feature.
func (g *grower) histogram(n *growing, position int) *[stride]cell {
	return &n.sums[position/lanes][position%lanes]
}

// lend gives a leaf histograms with arbitrary content.
func (g *grower) lend(n *growing) {
	need := len(g.bins.words)
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
