package graph

import "lethe"

// Quotas says how many nodes of every class each shard takes. The counts of a
// class differ by at most one between shards, and so do the shards' totals.
type Quotas struct {
	shards int
	// counts is classes × shards.
	counts []int
}

// NewQuotas spreads every class evenly and hands out what is left over one by
// one, each class going on at the shard where the one before it stopped. So no
// shard gets two leftovers of a class, nor two more leftovers than another.
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

// Room is what is left of the quotas while nodes are being assigned.
type Room struct{ Quotas }

// Room returns the places of the quotas, all of them free.
func (q *Quotas) Room() *Room {
	return &Room{Quotas{shards: q.shards, counts: append([]int(nil), q.counts...)}}
}

// Take uses up one place of a class in a shard and reports whether there was one.
func (r *Room) Take(class uint8, shard lethe.ShardID) bool {
	left := &r.Of(class)[shard]
	if *left == 0 {
		return false
	}
	*left--
	return true
}
