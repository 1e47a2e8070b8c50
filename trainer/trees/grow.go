package trees

import "container/heap"

// grower grows trees on one set of rows.
type grower struct {
	data   *binned
	config Config
	limits limits

	// bag lists the tree's rows; all fields below count within it.
	bag  []int32
	bins packed
	// packedAll means that bins hold all rows and features.
	packedAll bool
	// columns are the features that the tree may split on, ascending.
	columns []column
	// cells hold the derivatives of the bag's rows.
	cells []cell
	// rows lists the bag's rows so that every leaf has a range of its own.
	rows []int32

	// near holds a leaf's cells in its own order.
	near []cell
	// free are unused histograms.
	free [][]plane
	// spare holds the rows of the right side while a leaf is split.
	spare []int32
	// nodes are the nodes of the tree so far.
	nodes []growing
	// open lists the leaves that can be split.
	open queue
}

// growing is a node of a tree that is being grown.
type growing struct {
	from, to int
	// all is the sum of the node's rows.
	all cell
	// best is the best split.
	best split
	// sums are the histograms of a leaf that may be split.
	sums []plane
	// left is the position of the left child, 0 for a leaf; right follows it.
	left int
	// goesLeft holds for every bin of the split's feature whether its rows go left.
	goesLeft [maxBins]uint8
}

func newGrower(data *binned, config Config, most float64) *grower {
	return &grower{
		data: data, config: config, limits: newLimits(newScale(data.rows, most, config.L2), &config),
		rows: make([]int32, data.rows), spare: make([]int32, data.rows),
		cells: make([]cell, 0, data.rows), near: make([]cell, data.rows),
	}
}

// take prepares a tree: its rows and the features that it may split on.
func (g *grower) take(bag []int32, features []int) {
	everything := len(bag) == g.data.rows && g.config.FeatureShare == 1
	if !everything || !g.packedAll {
		g.bins.pack(g.data, bag, features)
	}
	g.packedAll = everything
	g.bag, g.columns = bag, g.columns[:0]
	for position, f := range features {
		g.columns = append(g.columns, column{
			feature: f, position: position, real: len(g.data.thresholds[f]) + 1, missing: g.data.missing[f],
		})
	}
	g.cells = g.cells[:len(bag)]
}

// grow grows a tree for the current cells. It splits the leaf with the highest gain until there
// are enough leaves or no split gains; ties go to the oldest leaf.
func (g *grower) grow() {
	g.rows = g.rows[:len(g.bag)]
	for i := range g.rows {
		g.rows[i] = int32(i)
	}
	root := growing{to: len(g.rows)}
	for _, c := range g.cells {
		root.all = root.all.plus(c)
	}
	if g.mayCut(&root) {
		g.measure(&root)
	}
	g.nodes = append(g.nodes[:0], root)
	g.open = queue{nodes: g.nodes, order: g.open.order[:0]}
	g.offer(0)
	for leaves := 2; leaves <= g.config.MaxLeaves && len(g.open.order) > 0; leaves++ {
		g.cut(heap.Pop(&g.open).(int), leaves == g.config.MaxLeaves)
	}
	for i := range g.nodes {
		g.release(&g.nodes[i])
	}
}

// offer adds a leaf with a split to the queue, and releases the histograms of any other.
func (g *grower) offer(at int) {
	g.open.nodes = g.nodes
	if g.nodes[at].best.found {
		heap.Push(&g.open, at)
	} else {
		g.release(&g.nodes[at])
	}
}

// cut splits a leaf. After the last cut it searches no further splits.
func (g *grower) cut(at int, last bool) {
	n := &g.nodes[at]
	middle := g.divide(n)
	left, right := growing{from: n.from, to: middle}, growing{from: middle, to: n.to}
	small, large := &left, &right
	if middle-n.from > n.to-middle {
		small, large = large, small
	}
	g.gather(small)
	for _, c := range g.near[:small.to-small.from] {
		small.all = small.all.plus(c)
	}
	large.all = n.all.minus(small.all)
	if !last {
		g.search(small, large, n)
	}
	n.left = len(g.nodes)
	g.nodes = append(g.nodes, left, right)
	g.offer(len(g.nodes) - 2)
	g.offer(len(g.nodes) - 1)
}

// divide partitions the rows of a leaf and returns where the right side begins. The partition is
// stable.
func (g *grower) divide(n *growing) int {
	c := g.columns[n.best.position]
	for bin := range int(n.best.bin) + 1 {
		n.goesLeft[bin] = 1
	}
	if c.missing && n.best.missingLeft {
		n.goesLeft[c.real] = 1
	}
	block, shift := place(n.best.position)
	words, rows, spare := g.bins.words[block], g.rows[n.from:n.to], g.spare[:n.to-n.from]
	left, right := 0, 0
	for _, i := range rows {
		// Both sides are written and one position advances: a branch would be mispredicted half of the
		// time.
		side := int(n.goesLeft[uint8(words[i]>>(shift&63))])
		rows[left] = i
		spare[right] = i
		left += side
		right += 1 - side
	}
	copy(rows[left:], spare[:right])
	return n.from + left
}
