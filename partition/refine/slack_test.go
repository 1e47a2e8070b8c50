package refine

import (
	"testing"

	"lethe/partition/graph"

	"github.com/stretchr/testify/require"

	"lethe"
)

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
			nobody, err := graph.New(0, nil, nil, 2)
			require.NoError(t, err)
			for limit := range 3 {
				s := newSlack(graph.NewQuotas(nobody, 3), limit)
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
