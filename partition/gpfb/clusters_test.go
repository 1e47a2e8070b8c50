package gpfb

import (
	"testing"

	"github.com/stretchr/testify/require"

	"lethe/partition/coarsen"
	"lethe/partition/graph"
)

// Six clusters of two nodes all prefer shard 0. Each shard takes two, those that
// would lose most by another choice first.
func TestClustersFillShardsBySize(t *testing.T) {
	g, err := graph.New(12, nil, make([]uint8, 12), 1)
	require.NoError(t, err)
	h := coarsen.Flat(g)
	h.Contract([]uint32{0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5}, 6)
	a := assignBySize(h, []float64{
		0, 1, 9,
		0, 6, 9,
		0, 2, 9,
		0, 5, 9,
		0, 3, 9,
		0, 4, 9,
	}, 3)
	require.Equal(t, graph.Assignment{2, 0, 2, 0, 1, 1}, a)
}
