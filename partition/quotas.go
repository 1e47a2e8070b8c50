package partition

import "lethe"

// quotas says how many nodes of every class each shard takes. The counts of a
// class differ by at most one between shards, and so do the shards' totals.
type quotas struct {
	shards int
	// counts is classes × shards.
	counts []int
}

// newQuotas spreads every class evenly and hands out what is left over one by
// one, each class going on at the shard where the one before it stopped. So no
// shard gets two leftovers of a class, nor two more leftovers than another.
func newQuotas(g *Graph, shards int) *quotas {
	q := &quotas{shards: shards, counts: make([]int, g.NumClasses()*shards)}
	next := 0
	for c, count := range g.classCounts {
		row := q.of(uint8(c))
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

// of returns the quota of a class per shard. It aliases the quotas.
func (q *quotas) of(class uint8) []int {
	return q.counts[int(class)*q.shards : (int(class)+1)*q.shards]
}

// room is what is left of the quotas while nodes are being assigned.
type room struct{ quotas }

func (q *quotas) room() *room {
	return &room{quotas{shards: q.shards, counts: append([]int(nil), q.counts...)}}
}

// take uses up one place of a class in a shard and reports whether there was one.
func (r *room) take(class uint8, shard lethe.ShardID) bool {
	left := &r.of(class)[shard]
	if *left == 0 {
		return false
	}
	*left--
	return true
}
