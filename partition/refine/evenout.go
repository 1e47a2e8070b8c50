package refine

import (
	"cmp"
	"slices"

	"lethe/partition/coarsen"
	"lethe/partition/graph"

	"lethe"
)

// EvenOut makes an assignment of the finest level meet every quota exactly, in
// place, by the cheapest moves.
func EvenOut(finest *coarsen.Level, a graph.Assignment, q *graph.Quotas) {
	newMoves(finest, a, q).evenOut()
}

// evenOut moves nodes of the finest level until every quota is met exactly: from shards above the
// quota of a class to shards below it, the cheapest moves first. A round costs O(nodes + edges);
// usually one round is enough for almost all of the excess.
func (m *moves) evenOut() {
	for {
		leaving := m.leaving()
		if len(leaving) == 0 {
			return
		}
		slices.SortFunc(leaving, departure.compare)
		for _, d := range leaving {
			if *m.over(m.a[d.node], d) > 0 && *m.over(d.to, d) < 0 {
				m.move(int(d.node), d.to)
			}
		}
	}
}

// departure is the move of a node to the shard below quota with the most neighbours of the node.
type departure struct {
	saved int
	node  uint32
	to    lethe.ShardID
	class uint8
}

// compare orders departures by descending savings.
func (d departure) compare(other departure) int {
	return cmp.Or(cmp.Compare(other.saved, d.saved), cmp.Compare(d.node, other.node))
}

// over returns how far a shard exceeds the quota of a departure's class.
func (m *moves) over(s lethe.ShardID, d departure) *int {
	return &m.excess[int(s)*m.numClasses+int(d.class)]
}

// leaving lists the best departures from every shard above the quota of a class, as many as the
// excess.
func (m *moves) leaving() []departure {
	best := make([][]departure, len(m.excess))
	links := make([]int, m.shards)
	for i, from := range m.a {
		d := departure{node: uint32(i), class: m.LoadClass[i]}
		excess := *m.over(from, d)
		if excess <= 0 {
			continue
		}
		d.to, d.saved = m.bestBelow(i, links)
		list := &best[int(from)*m.numClasses+int(d.class)]
		*list = keepBest(*list, d, excess)
	}
	return slices.Concat(best...)
}

// bestBelow returns the shard below the quota of node i's class that saves the most cut edges,
// the lowest in a tie. There is one if another shard is above the quota. links is scratch space,
// all zero.
func (m *moves) bestBelow(i int, links []int) (to lethe.ShardID, saved int) {
	neighbours := m.Neighbours[m.Start[i]:m.Start[i+1]]
	for _, j := range neighbours {
		links[m.a[j]]++
	}
	found := false
	for s, count := range links {
		if m.excess[s*m.numClasses+int(m.LoadClass[i])] < 0 && (!found || count > saved) {
			to, saved, found = lethe.ShardID(s), count, true
		}
	}
	saved -= links[m.a[i]]
	for _, j := range neighbours {
		links[m.a[j]] = 0
	}
	return to, saved
}

// keepBest adds d to a heap of the best departures with at most limit entries; the worst is at 0.
func keepBest(heap []departure, d departure, limit int) []departure {
	if len(heap) < limit {
		heap = append(heap, d)
		for at := len(heap) - 1; at > 0; {
			up := (at - 1) / 2
			if heap[up].compare(heap[at]) >= 0 {
				break
			}
			heap[up], heap[at] = heap[at], heap[up]
			at = up
		}
		return heap
	}
	if d.compare(heap[0]) > 0 {
		return heap
	}
	heap[0] = d
	for at := 0; ; {
		down := 2*at + 1
		if down >= len(heap) {
			return heap
		}
		if down+1 < len(heap) && heap[down+1].compare(heap[down]) > 0 {
			down++
		}
		if heap[at].compare(heap[down]) >= 0 {
			return heap
		}
		heap[at], heap[down] = heap[down], heap[at]
		at = down
	}
}
