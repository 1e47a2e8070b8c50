package refine

import (
	"math/bits"

	"lethe/partition/graph"

	"lethe"
)

// tableEntries bounds the table of neighbour counts: 16 million entries of four bytes. For larger
// graphs neighbours are counted on demand, at the cost of the degree.
const tableEntries = 16 << 20

// swaps is an assignment under swaps of two nodes of one class, which never change a count per
// shard.
type swaps struct {
	g      *graph.Graph
	a      graph.Assignment
	shards int
	// table holds the number of neighbours per node and shard; nil for large graphs.
	table []int32
	// members lists the nodes of every class and shard, and place is each node's position in its
	// list.
	members [][]uint32
	place   []uint32
	// cut is the number of cut edges, made the number of swaps.
	cut, made int
	// loose allows single moves; nil without slack.
	loose *slack
}

// nobody replaces the other node when a node moves alone.
const nobody = -1

func newSwaps(g *graph.Graph, a graph.Assignment, shards int) *swaps {
	s := &swaps{
		g: g, a: a, shards: shards, cut: g.CutEdges(a),
		members: make([][]uint32, g.NumClasses()*shards),
		place:   make([]uint32, g.N()),
	}
	for i := range a {
		s.enter(i, a[i])
	}
	if g.N()*shards <= tableEntries {
		s.table = make([]int32, g.N()*shards)
		for i := range g.N() {
			for _, j := range g.Neighbors(i) {
				s.table[i*shards+int(a[j])]++
			}
		}
	}
	return s
}

func (s *swaps) list(class uint8, shard lethe.ShardID) *[]uint32 {
	return &s.members[int(class)*s.shards+int(shard)]
}

// links returns the number of neighbours of node i in a shard.
func (s *swaps) links(i int, shard lethe.ShardID) int {
	if s.table != nil {
		return int(s.table[i*s.shards+int(shard)])
	}
	count := 0
	for _, j := range s.g.Neighbors(i) {
		if s.a[j] == shard {
			count++
		}
	}
	return count
}

// best returns the node in shard to, of node i's class, whose swap with i saves the most cut
// edges, and how many it saves (negative if it adds some). It examines at most limit nodes,
// starting from a drawn one. If the slack allows it and no swap saves more, node i moves alone
// and other is nobody. found is false if the shard has no node of that class.
func (s *swaps) best(i int, to lethe.ShardID, limit int, draw *lethe.Draw) (other, saved int, found bool) {
	from := s.a[i]
	list := *s.list(s.g.Class(i), to)
	own := s.links(i, to) - s.links(i, from)
	if s.loose.allows(s.g.Class(i), from, to) {
		other, saved, found = nobody, own, true
	}
	if len(list) == 0 {
		return other, saved, found
	}
	at := below(draw, len(list))
	for range min(limit, len(list)) {
		j := int(list[at])
		if at++; at == len(list) {
			at = 0
		}
		gain := own + s.links(j, from) - s.links(j, to)
		if found && gain <= saved {
			continue
		}
		// An edge between the two stays cut, although both counted it as saved.
		if s.g.Adjacent(i, j) {
			if gain -= 2; found && gain <= saved {
				continue
			}
		}
		other, saved, found = j, gain, true
	}
	return other, saved, found
}

// exchange swaps the shards of two nodes of one class, which saves the given number of cut edges.
// If j is nobody, node i moves to shard to alone.
func (s *swaps) exchange(i, j int, to lethe.ShardID, saved int) {
	from, class := s.a[i], s.g.Class(i)
	if j == nobody {
		s.leave(i)
		s.enter(i, to)
		s.loose.move(class, from, to)
		s.recount(i, from, to)
	} else {
		(*s.list(class, from))[s.place[i]] = uint32(j)
		(*s.list(class, to))[s.place[j]] = uint32(i)
		s.place[i], s.place[j] = s.place[j], s.place[i]
		s.a[i], s.a[j] = to, from
		s.recount(i, from, to)
		s.recount(j, to, from)
	}
	s.cut -= saved
	s.made++
}

// leave removes node i from the list of its shard; the last node of the list takes its place.
func (s *swaps) leave(i int) {
	list := s.list(s.g.Class(i), s.a[i])
	last := (*list)[len(*list)-1]
	(*list)[s.place[i]] = last
	s.place[last] = s.place[i]
	*list = (*list)[:len(*list)-1]
}

// enter appends node i to the list of a shard.
func (s *swaps) enter(i int, to lethe.ShardID) {
	list := s.list(s.g.Class(i), to)
	s.a[i] = to
	s.place[i] = uint32(len(*list))
	*list = append(*list, uint32(i))
}

// recount updates the neighbour counts after node i moved.
func (s *swaps) recount(i int, from, to lethe.ShardID) {
	if s.table == nil {
		return
	}
	for _, k := range s.g.Neighbors(i) {
		s.table[int(k)*s.shards+int(from)]--
		s.table[int(k)*s.shards+int(to)]++
	}
}

// below returns a number in [0, n) by multiplication instead of division. Its bias, n in 2^64, is
// irrelevant for a search.
func below(draw *lethe.Draw, n int) int {
	hi, _ := bits.Mul64(draw.Uint64(), uint64(n))
	return int(hi)
}
