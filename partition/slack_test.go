package partition

import (
	"testing"

	"github.com/stretchr/testify/require"

	"lethe"
)

// requireSlack checks that no shard is further from its quotas than the slack
// allows, in any class and in size.
func requireSlack(t require.TestingT, q *quotas, s Scores, slack int) {
	for shard, counts := range s.ClassCounts {
		even := 0
		for class, count := range counts {
			quota := q.of(uint8(class))[shard]
			even += quota
			require.LessOrEqual(t, max(count-quota, quota-count), slack, "class %d of shard %d", class, shard)
		}
		require.LessOrEqual(t, max(s.Sizes[shard]-even, even-s.Sizes[shard]), slack, "size of shard %d", shard)
	}
}

func TestSlackBuysCut(t *testing.T) {
	// Two cliques of six and two nodes: even halves must cut the larger one.
	var edges []lethe.Edge
	for i := range uint32(6) {
		for j := range i {
			edges = append(edges, lethe.Edge{A: i, B: j})
		}
	}
	g, err := NewGraph(8, append(edges, lethe.Edge{A: 6, B: 7}), make([]uint8, 8), 1)
	require.NoError(t, err)
	for slack, want := range []int{8, 5, 0} {
		_, report, err := Run(t.Context(), g, Options{Shards: 2, Slack: slack})
		require.NoError(t, err)
		require.Equal(t, want, report.Scores.CutEdges, "slack %d", slack)
	}
}

// Of two classes over three shards, each move is stopped by one bound alone.
func TestSlackStopsAtEachBound(t *testing.T) {
	type step struct {
		class    uint8
		from, to lethe.ShardID
	}
	for name, c := range map[string]struct {
		before []step
		then   step
	}{
		"class of the source": {[]step{{0, 0, 1}, {1, 2, 0}}, step{0, 0, 2}},
		"class of the target": {[]step{{0, 0, 1}, {1, 1, 2}}, step{0, 2, 1}},
		"size of the source":  {[]step{{0, 0, 1}}, step{1, 0, 2}},
		"size of the target":  {[]step{{0, 0, 1}}, step{1, 2, 1}},
	} {
		t.Run(name, func(t *testing.T) {
			for limit := range 3 {
				s := newSlack(&quotas{shards: 3, counts: make([]int, 6)}, limit)
				for range limit {
					for _, b := range c.before {
						require.True(t, s.allows(b.class, b.from, b.to), "limit %d", limit)
						s.move(b.class, b.from, b.to)
					}
				}
				require.False(t, s.allows(c.then.class, c.then.from, c.then.to), "limit %d", limit)
			}
		})
	}
}
