package refine

import (
	"lethe"
	"lethe/partition/coarsen"
	"lethe/partition/graph"
)

// moves is an assignment of the nodes of one level under single moves. Quotas are soft: a shard
// above or below the quota of a class pays the square of the difference times the price of the
// class.
type moves struct {
	*coarsen.Level
	a      graph.Assignment
	shards int
	// numClasses is the number of classes.
	numClasses int
	// excess is shards × classes: nodes of the graph beyond the quota.
	excess []int
	// price is the price per class, in cut edges.
	price []float64
	// made counts the moves made.
	made int
}

func newMoves(l *coarsen.Level, a graph.Assignment, q *graph.Quotas) *moves {
	m := &moves{Level: l, a: a, shards: q.Shards(), numClasses: q.NumClasses()}
	m.excess = make([]int, q.NumClasses()*q.Shards())
	m.price = make([]float64, m.numClasses)
	for c := range m.numClasses {
		for s, quota := range q.Of(uint8(c)) {
			m.excess[s*m.numClasses+c] -= quota
		}
	}
	for i, s := range a {
		m.load(i, s, 1)
	}
	return m
}

// load adds the classes of node i to a shard, times a factor of 1 or -1.
func (m *moves) load(i int, s lethe.ShardID, factor int) {
	row := m.excess[int(s)*m.numClasses:]
	for k := m.LoadStart[i]; k < m.LoadStart[i+1]; k++ {
		row[m.LoadClass[k]] += factor * int(m.LoadCount[k])
	}
}

// saved returns the weight of the edges that a move of node i from one shard to another removes
// from the cut.
func (m *moves) saved(i int, from, to lethe.ShardID) int {
	saved := 0
	if m.Weights == nil {
		for _, j := range m.Neighbours[m.Start[i]:m.Start[i+1]] {
			switch m.a[j] {
			case to:
				saved++
			case from:
				saved--
			}
		}
		return saved
	}
	for k := m.Start[i]; k < m.Start[i+1]; k++ {
		switch m.a[m.Neighbours[k]] {
		case to:
			saved += int(m.Weights[k])
		case from:
			saved -= int(m.Weights[k])
		}
	}
	return saved
}

// cost returns the increase of the shards' penalties for deviations from the quotas by a move of node i.
func (m *moves) cost(i int, from, to lethe.ShardID) float64 {
	source, target := m.excess[int(from)*m.numClasses:], m.excess[int(to)*m.numClasses:]
	cost := 0.0
	for k := m.LoadStart[i]; k < m.LoadStart[i+1]; k++ {
		c, x := m.LoadClass[k], int(m.LoadCount[k])
		cost += float64(m.price[c] * float64(2*x*(target[c]-source[c]+x)))
	}
	return cost
}

func (m *moves) move(i int, to lethe.ShardID) {
	m.load(i, m.a[i], -1)
	m.load(i, to, 1)
	m.a[i] = to
	m.made++
}
