package refine

import (
	"lethe"
	"lethe/partition/graph"
)

// slack holds how far shards deviate from their quotas, and how far they may: by the count of a
// class in a shard, and by the shard's size. A nil slack allows no deviation.
type slack struct {
	limit, shards int
	// classes is classes × shards, sizes has an entry per shard: nodes beyond
	// the quota.
	classes, sizes []int
}

// newSlack returns the slack of an assignment that meets the quotas exactly.
func newSlack(q *graph.Quotas, limit int) *slack {
	if limit == 0 {
		return nil
	}
	return &slack{
		limit: limit, shards: q.Shards(),
		classes: make([]int, q.NumClasses()*q.Shards()), sizes: make([]int, q.Shards()),
	}
}

// allows reports whether a node of a class may move between two shards.
func (s *slack) allows(class uint8, from, to lethe.ShardID) bool {
	if s == nil {
		return false
	}
	row := s.classes[int(class)*s.shards : (int(class)+1)*s.shards]
	return row[to] < s.limit && s.sizes[to] < s.limit && row[from] > -s.limit && s.sizes[from] > -s.limit
}

// move records that a node of a class moved between two shards.
func (s *slack) move(class uint8, from, to lethe.ShardID) {
	row := s.classes[int(class)*s.shards : (int(class)+1)*s.shards]
	row[from]--
	row[to]++
	s.sizes[from]--
	s.sizes[to]++
}
