package repair

import (
	"slices"
	"testing"

	"lethe/internal/golden"

	"github.com/stretchr/testify/require"

	"lethe"
	"lethe/partition/graph"
	"lethe/partition/graphtest"
)

type goldenRepairFile struct {
	Cases []goldenRepair
}

func TestGoldenRepair(t *testing.T) {
	golden.Each(t, "repair.json", func(t *testing.T, file goldenRepairFile) {
		require.NotEmpty(t, file.Cases)
		for _, c := range file.Cases {
			t.Run(c.Name, func(t *testing.T) {
				s := c.snapshot()
				require.NoError(t, s.Validate())
				g, err := graph.FromSnapshot(s)
				require.NoError(t, err)
				require.Equal(t, c.Expect.CutEdges, g.CutEdges(c.Assignment))
				for _, method := range []string{Zero, Mirror, MixUp} {
					out, err := Slices(s, lethe.NoTimestep, c.Assignment, c.NumShards, Config{Method: method, Tau: 1})
					require.NoError(t, err)
					for _, want := range c.Expect.Shards {
						want.require(t, g, out[want.Shard], method)
					}
				}
			})
		}
	})
}

type goldenRepair struct {
	Name       string
	NumNodes   int         `json:"num_nodes"`
	NumShards  int         `json:"num_shards"`
	EdgeIndex  [2][]uint32 `json:"edge_index"`
	Inputs     struct{ X golden.Tensor }
	Assignment graph.Assignment
	Expect     struct {
		CutEdges int `json:"cut_edges"`
		Shards   []goldenShard
	}
}

type goldenShard struct {
	Shard     int
	Nodes     []int
	Missing   [][2]int
	Degree    []int
	StubOwner []int `json:"stub_owner"`
	Lambda    []float64
	Repaired  struct {
		NumNodes           int `json:"num_nodes"`
		NumRealNodes       int `json:"num_real_nodes"`
		NumEdgesUndirected int `json:"num_edges_undirected"`
		Edges              [][2]uint32
		Zero               golden.Tensor `json:"x_zero"`
		Mirror             golden.Tensor `json:"x_mirror"`
		MixUp              golden.Tensor `json:"x_mixup"`
	}
}

// snapshot makes node i the pseudonym that is i as a number, so that canonical
// order is the file's.
func (c *goldenRepair) snapshot() *lethe.Snapshot {
	s := &lethe.Snapshot{Timestep: 1, FeatureCount: c.Inputs.X.Shape[1]}
	for i := range c.NumNodes {
		s.Nodes = append(s.Nodes, lethe.SnapshotNode{Pseudonym: lethe.Pseudonym{14: byte(i >> 8), 15: byte(i)}})
	}
	for _, x := range c.Inputs.X.Data {
		s.Features = append(s.Features, float32(x))
	}
	for _, e := range graphtest.ListedEdges(c.EdgeIndex) {
		if e.A < e.B {
			s.Payments = append(s.Payments, lethe.Arc{Source: e.A, Target: e.B})
		}
	}
	slices.SortFunc(s.Payments, lethe.Arc.Compare)
	return s
}

// require compares a slice with what the file wants. The λ of mixup is ours, so
// the file's is put in its place before features are compared.
func (want *goldenShard) require(t *testing.T, g *graph.Graph, got *lethe.Slice, method string) {
	t.Helper()
	nodes := make([]int, len(got.Nodes))
	missing := make([][2]int, len(got.Nodes))
	degree := make([]int, len(got.Nodes))
	for at, p := range got.Nodes {
		nodes[at] = int(p[14])<<8 | int(p[15])
		missing[at][0] = nodes[at]
		degree[at] = len(g.Neighbors(nodes[at]))
	}
	owners := make([]int, 0, len(got.Stubs))
	restored := make([]int, len(got.Nodes))
	for k := range got.Stubs {
		owner := got.Stubs[k].Owner
		missing[owner][1]++
		restored[owner]++
		owners = append(owners, nodes[owner])
		if method == MixUp {
			require.True(t, got.Stubs[k].Lambda >= 0 && got.Stubs[k].Lambda < 1)
			got.Stubs[k].Lambda = float32(want.Lambda[k])
		}
	}
	for _, e := range got.Edges {
		restored[e.A]++
		restored[e.B]++
	}
	require.Equal(t, want.Nodes, nodes)
	require.Equal(t, want.Degree, degree)
	require.Equal(t, want.Degree, restored, "every real node has its full degree")
	require.Equal(t, want.Missing, missing)
	require.Equal(t, want.StubOwner, owners)

	x, edges := expand(got)
	require.Equal(t, want.Repaired.Edges, edges)
	require.Equal(t, want.Repaired.NumRealNodes, len(got.Nodes))
	require.Equal(t, want.Repaired.NumNodes, len(got.Nodes)+len(got.Stubs))
	require.Equal(t, want.Repaired.NumEdgesUndirected, len(edges))
	features := map[string][]float64{
		Zero: want.Repaired.Zero.Data, Mirror: want.Repaired.Mirror.Data, MixUp: want.Repaired.MixUp.Data,
	}[method]
	require.Len(t, x, len(features))
	for i := range x {
		require.InDelta(t, features[i], x[i], 1e-6, "feature %d", i)
	}
}

// expand makes a slice's stubs real: their features, and all edges with stubs
// numbered after the nodes.
func expand(s *lethe.Slice) (stubFeatures []float32, edges [][2]uint32) {
	edges = make([][2]uint32, 0, len(s.Edges)+len(s.Stubs))
	for _, e := range s.Edges {
		edges = append(edges, [2]uint32{e.A, e.B})
	}
	for k, stub := range s.Stubs {
		edges = append(edges, [2]uint32{stub.Owner, uint32(len(s.Nodes) + k)})
		for _, x := range s.Row(int(stub.Owner)) {
			stubFeatures = append(stubFeatures, stub.Lambda*x)
		}
	}
	return stubFeatures, edges
}
