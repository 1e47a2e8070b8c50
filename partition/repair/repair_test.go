package repair

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"lethe"
	"lethe/canonical"
	"lethe/partition/graph"
	"lethe/partition/graphtest"
	"lethe/partition/onehop"
)

// drawSnapshot draws a snapshot whose nodes are numbered by their pseudonyms.
func drawSnapshot(rt *rapid.T) *lethe.Snapshot {
	s := &lethe.Snapshot{Timestep: 7, FeatureCount: 2}
	for i := range rapid.IntRange(1, 15).Draw(rt, "nodes") {
		label := lethe.Label(rapid.IntRange(0, lethe.NumLabels-1).Draw(rt, "label"))
		s.Nodes = append(s.Nodes, lethe.SnapshotNode{Pseudonym: lethe.Pseudonym{byte(i), 9}, Label: label})
		s.Features = append(s.Features, float32(i), -float32(i))
	}
	for a := range s.Nodes {
		for b := range s.Nodes {
			if a != b && rapid.IntRange(0, 4).Draw(rt, "payment") == 0 {
				s.Payments = append(s.Payments, lethe.Arc{Source: uint32(a), Target: uint32(b)})
			}
		}
	}
	return s
}

func drawRepair(rt *rapid.T) Config {
	o := Config{
		Tau:      1,
		Seed:     rapid.Uint64().Draw(rt, "seed"),
		Method:   rapid.SampledFrom([]string{MixUp, Zero, Mirror}).Draw(rt, "repair"),
		MinStubs: rapid.IntRange(0, 4).Draw(rt, "min stubs"),
		OneHop:   rapid.SampledFrom([]onehop.Mode{onehop.None, onehop.Undirected, onehop.Directed}).Draw(rt, "one-hop"),
	}
	return o
}

// Invariant I2: every node is in exactly one slice; every edge is kept in
// exactly one slice, or is cut and has a stub at both ends.
func TestSlicesHoldEverythingOnce(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		s := drawSnapshot(rt)
		shards := rapid.IntRange(1, 5).Draw(rt, "shards")
		a := graphtest.DrawAssignment(rt, len(s.Nodes), shards)
		opts := drawRepair(rt)
		out, err := Slices(s, 4, a, shards, opts)
		require.NoError(rt, err)
		require.Len(rt, out, shards)
		rows := opts.OneHop.Join(s)

		seen := map[lethe.Pseudonym]int{}
		kept := map[lethe.Edge]int{}
		stubs := map[lethe.Pseudonym]int{}
		for shard, slice := range out {
			require.Equal(rt, lethe.ShardID(shard), slice.Shard)
			require.Equal(rt, lethe.Timestep(4), slice.Previous)
			decoded, err := canonical.DecodeSlice(canonical.EncodeSlice(slice))
			require.NoError(rt, err)
			require.Equal(rt, slice, decoded)
			one, err := OneSlice(s, 4, a, shards, lethe.ShardID(shard), opts)
			require.NoError(rt, err)
			require.Equal(rt, slice, one)
			for at, p := range slice.Nodes {
				i, ok := s.Find(p)
				require.True(rt, ok)
				require.Equal(rt, a[i], slice.Shard)
				require.Equal(rt, rows.Row(i), slice.Row(at))
				require.Equal(rt, s.Nodes[i].Label, slice.Labels[at])
				seen[p]++
			}
			for _, e := range slice.Edges {
				i, _ := s.Find(slice.Nodes[e.A])
				j, _ := s.Find(slice.Nodes[e.B])
				kept[lethe.Edge{A: uint32(i), B: uint32(j)}]++
			}
			for k, stub := range slice.Stubs {
				require.True(rt, k == 0 || slice.Stubs[k-1].Owner <= stub.Owner, "stubs are ordered by owner")
				stubs[slice.Nodes[stub.Owner]]++
			}
		}
		missing := make([]int, len(s.Nodes))
		for _, e := range s.Undirected() {
			if a[e.A] == a[e.B] {
				require.Equal(rt, 1, kept[e])
				delete(kept, e)
				continue
			}
			missing[e.A]++
			missing[e.B]++
		}
		require.Empty(rt, kept, "edges that the snapshot does not have")
		for i, n := range s.Nodes {
			require.Equal(rt, 1, seen[n.Pseudonym])
			require.Equal(rt, max(missing[i], opts.MinStubs), stubs[n.Pseudonym])
		}
	})
}

// Removing a node, the others keeping their shards, changes exactly the slices
// of its own shard and of the shards that hold a cut neighbour.
func TestRemovalChangesExactlyTheAffectedSlices(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		s := drawSnapshot(rt)
		shards := rapid.IntRange(1, 6).Draw(rt, "shards")
		a := graphtest.DrawAssignment(rt, len(s.Nodes), shards)
		opts := drawRepair(rt)
		if opts.Method != MixUp {
			// With λ constant an extra stub may stand in for the lost one.
			opts.MinStubs = 0
		}
		node := rapid.IntRange(0, len(s.Nodes)-1).Draw(rt, "removed")
		before, err := Slices(s, lethe.NoTimestep, a, shards, opts)
		require.NoError(rt, err)

		gone := s.Nodes[node].Pseudonym
		without := s.Without(func(p lethe.Pseudonym) bool { return p == gone })
		rest := append(append(graph.Assignment(nil), a[:node]...), a[node+1:]...)
		after, err := Slices(without, lethe.NoTimestep, rest, shards, opts)
		require.NoError(rt, err)

		var changed []lethe.ShardID
		for shard := range before {
			old, fresh := canonical.EncodeSlice(before[shard]), canonical.EncodeSlice(after[shard])
			if string(old) != string(fresh) {
				changed = append(changed, lethe.ShardID(shard))
			}
		}
		require.Equal(rt, graphtest.Affected(s, a, node), changed)
	})
}

func TestLambdaIsKeyedByTheOrderedPair(t *testing.T) {
	p, q := lethe.Pseudonym{1}, lethe.Pseudonym{2}
	base := lambdas{Config{Seed: 1, Method: MixUp, Tau: 1}, 3}
	later, reseeded := base, base
	later.timestep++
	reseeded.Seed++
	draws := map[float32]bool{}
	for _, lambda := range []float32{
		base.forNeighbour(p, q), base.forNeighbour(q, p), later.forNeighbour(p, q), reseeded.forNeighbour(p, q),
		base.forExtra(p, 0), base.forExtra(p, 1), base.forExtra(q, 0), later.forExtra(p, 0),
	} {
		require.False(t, draws[lambda], "two stubs share a draw")
		draws[lambda] = true
	}
	require.Equal(t, base.forNeighbour(p, q), base.forNeighbour(p, q))
}

func TestLambdaIsUniformBelowTau(t *testing.T) {
	l := lambdas{Config{Seed: 4, Method: MixUp, Tau: 0.4}, 3}
	const n = 20_000
	mean, most := 0.0, float32(0)
	for i := range n {
		lambda := l.forNeighbour(lethe.Pseudonym{byte(i), byte(i >> 8)}, lethe.Pseudonym{7})
		require.True(t, lambda >= 0 && lambda < 0.4)
		mean += float64(lambda) / n
		most = max(most, lambda)
	}
	require.InDelta(t, 0.2, mean, 0.005)
	require.InDelta(t, 0.4, most, 0.001)
}

func TestRepairConfigReportEverythingAtOnce(t *testing.T) {
	s := &lethe.Snapshot{Timestep: 5}
	_, err := Slices(s, lethe.NoTimestep, nil, 1, Config{Method: "truthy", Tau: -1, MinStubs: -2})
	for _, want := range []string{`"truthy"`, "mirror", "tau is -1", "min_stubs is -2"} {
		require.ErrorContains(t, err, want)
	}
	_, err = Slices(s, lethe.NoTimestep, nil, 1, Config{Method: None, Tau: 1, MinStubs: 1})
	require.ErrorContains(t, err, "min_stubs is 1, want 0")
	_, err = Slices(s, lethe.NoTimestep, make(graph.Assignment, 3), 1, Defaults())
	require.ErrorIs(t, err, graph.ErrAssignment)
	require.ErrorContains(t, err, "timestep 5")
	_, err = OneSlice(s, lethe.NoTimestep, nil, 2, 2, Defaults())
	require.ErrorIs(t, err, graph.ErrAssignment)
	require.ErrorContains(t, err, "shard 2 of 2")
}
