package group_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"lethe"
	"lethe/canonical"
	"lethe/trainer/group"
)

// drawParts draws the slices of some shards: every node is in one of them.
func drawParts(t *rapid.T) []*lethe.Slice {
	features := rapid.IntRange(0, 3).Draw(t, "features")
	var parts []*lethe.Slice
	for shard := range rapid.IntRange(1, 5).Draw(t, "shards") {
		parts = append(parts, &lethe.Slice{
			Timestep: 9, Previous: 7, Shard: lethe.ShardID(shard), FeatureCount: features,
		})
	}
	for node := range rapid.IntRange(0, 20).Draw(t, "nodes") {
		p := rapid.SampledFrom(parts).Draw(t, "shard")
		p.Nodes = append(p.Nodes, lethe.Pseudonym{byte(node)})
		p.Labels = append(p.Labels, lethe.Label(rapid.IntRange(0, lethe.NumLabels-1).Draw(t, "label")))
		for f := range features {
			p.Features = append(p.Features, float32(100*node+f))
		}
		for range rapid.IntRange(0, 2).Draw(t, "stubs") {
			p.Stubs = append(p.Stubs, lethe.Stub{
				Owner: uint32(len(p.Nodes) - 1), Lambda: rapid.Float32Range(0, 1).Draw(t, "lambda"),
			})
		}
	}
	for _, p := range parts {
		for a := range p.Nodes {
			for b := a + 1; b < len(p.Nodes); b++ {
				if rapid.Bool().Draw(t, "edge") {
					p.Edges = append(p.Edges, lethe.Edge{A: uint32(a), B: uint32(b)})
				}
			}
		}
	}
	return parts
}

// content lists what slices hold, by the names of the nodes.
type content struct {
	labels map[lethe.Pseudonym]lethe.Label
	rows   map[lethe.Pseudonym][]float32
	edges  map[[2]lethe.Pseudonym]int
	stubs  map[lethe.Pseudonym][]float32
	nodes  int
}

func contentOf(all ...*lethe.Slice) content {
	c := content{
		labels: map[lethe.Pseudonym]lethe.Label{}, rows: map[lethe.Pseudonym][]float32{},
		edges: map[[2]lethe.Pseudonym]int{}, stubs: map[lethe.Pseudonym][]float32{},
	}
	for _, s := range all {
		for i, n := range s.Nodes {
			c.labels[n] = s.Labels[i]
			c.rows[n] = append(c.rows[n], s.Row(i)...)
			c.nodes++
		}
		for _, e := range s.Edges {
			c.edges[[2]lethe.Pseudonym{s.Nodes[e.A], s.Nodes[e.B]}]++
		}
		for _, stub := range s.Stubs {
			c.stubs[s.Nodes[stub.Owner]] = append(c.stubs[s.Nodes[stub.Owner]], stub.Lambda)
		}
	}
	return c
}

func TestUnionHoldsWhatItsPartsHoldOnce(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		parts := drawParts(t)
		union, err := group.Union(4, parts)
		require.NoError(t, err)
		require.Equal(t, contentOf(parts...), contentOf(union))
		require.Equal(t, lethe.ShardID(4), union.Shard)
		require.Equal(t, lethe.Timestep(7), union.Previous)
		require.True(t, slices.IsSortedFunc(union.Nodes, lethe.Pseudonym.Compare))
		require.True(t, slices.IsSortedFunc(union.Edges, lethe.Edge.Compare))
		require.True(t, slices.IsSortedFunc(union.Stubs, func(a, b lethe.Stub) int { return int(a.Owner) - int(b.Owner) }))

		digests := make([]lethe.Digest, len(parts))
		for i, p := range parts {
			digests[i] = canonical.DigestSlice(p)
		}
		require.Equal(t, canonical.DigestUnion(digests), canonical.DigestSlice(union))
		other, err := group.Union(5, parts)
		require.NoError(t, err)
		require.Equal(t, canonical.DigestSlice(union), canonical.DigestSlice(other))
	})
}

func TestSlicesWithoutAUnion(t *testing.T) {
	a := &lethe.Slice{Timestep: 3, Previous: 2, FeatureCount: 5}
	_, err := group.Union(0, []*lethe.Slice{a, {Timestep: 4, Previous: 2, FeatureCount: 5}})
	require.EqualError(t, err, "slices of timesteps 3 after 2 and 4 after 2 have no union")
	_, err = group.Union(0, []*lethe.Slice{a, {Timestep: 3, Previous: 1, FeatureCount: 5}})
	require.EqualError(t, err, "slices of timesteps 3 after 2 and 3 after 1 have no union")
	_, err = group.Union(0, []*lethe.Slice{a, {Timestep: 3, Previous: 2, FeatureCount: 6}})
	require.EqualError(t, err, "timestep 3: slices of 5 and 6 features have no union")
}
