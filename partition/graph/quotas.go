package graph

import "lethe"

// Quotas is the number of nodes of every class for each shard. The counts of a class differ by at
// most one between shards, and so do the shards' totals.
type Quotas struct {
	shards int
	// counts is classes × shards.
	counts []int
}

// NewQuotas spreads every class evenly and distributes the remainders one by one, each class
// continuing at the shard where the previous one stopped. So no shard gets two remainders of a
// class, nor two more remainders than another.
func NewQuotas(g *Graph, shards int) *Quotas {
	q := &Quotas{shards: shards, counts: make([]int, g.NumClasses()*shards)}
	next := 0
	for c, count := range g.classCounts {
		row := q.Of(uint8(c))
		for s := range row {
			row[s] = count / shards
		}
		for range count % shards {
			row[next]++
			next = (next + 1) % shards
		}
	}
	return q
}

// Shards returns the number of shards.
func (q *Quotas) Shards() int { return q.shards }

// NumClasses returns the number of classes, empty ones included.
func (q *Quotas) NumClasses() int { return len(q.counts) / q.shards }

// Of returns the quota of a class per shard. It aliases the quotas.
func (q *Quotas) Of(class uint8) []int {
	return q.counts[int(class)*q.shards : (int(class)+1)*q.shards]
}

// Room is the remaining part of the quotas during an assignment.
type Room struct{ Quotas }

// Room returns the quotas as room, all of it free.
func (q *Quotas) Room() *Room {
	return &Room{Quotas{shards: q.shards, counts: append([]int(nil), q.counts...)}}
}

// Take uses one place of a class in a shard and reports whether there was one.
func (r *Room) Take(class uint8, shard lethe.ShardID) bool {
	left := &r.Of(class)[shard]
	if *left == 0 {
		return false
	}
	*left--
	return true
}
