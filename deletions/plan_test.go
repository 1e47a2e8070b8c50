package deletions_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"lethe"
	"lethe/deletions"
)

// A graph is written as "shards: 0 0 1 2" and one payment "a>b" to a line.
func TestPlanTranscript(t *testing.T) {
	datadriven.Walk(t, "testdata/plan", func(t *testing.T, path string) {
		var s *lethe.Snapshot
		var assignment []lethe.ShardID
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			switch d.Cmd {
			case "graph":
				var shards []int
				d.ScanArgs(t, "shards", &shards)
				s, assignment = &lethe.Snapshot{Timestep: 7}, make([]lethe.ShardID, len(shards))
				for i, shard := range shards {
					assignment[i] = lethe.ShardID(shard)
					s.Nodes = append(s.Nodes, lethe.SnapshotNode{Pseudonym: lethe.Pseudonym{byte(i)}})
				}
				for line := range strings.Lines(d.Input) {
					var a lethe.Arc
					_, err := fmt.Sscanf(line, "%d>%d", &a.Source, &a.Target)
					require.NoError(t, err)
					s.Payments = append(s.Payments, a)
				}
				require.NoError(t, s.Validate())
				return ""
			case "plan":
				var nodes []int
				var scope string
				d.ScanArgs(t, "nodes", &nodes)
				d.ScanArgs(t, "scope", &scope)
				use := assignment
				if d.HasArg("unsettled") {
					use = nil
				}
				if d.HasArg("misfit") {
					use = assignment[1:]
				}
				p, err := deletions.PlanErasure(s, use, nodes, lethe.Scope(scope))
				if err != nil {
					return "error: " + err.Error() + "\n"
				}
				out := fmt.Sprintf("nodes=%v own=%v affected=%v cut=%d", p.Nodes, p.Own, p.Affected, p.CutEdges)
				if p.Repartition {
					out += " repartition"
				}
				for _, a := range p.Payments {
					out += fmt.Sprintf("\ntombstone %d>%d", a.Source, a.Target)
				}
				return out + "\n"
			}
			d.Fatalf(t, "unknown command")
			return ""
		})
	})
}

// What a slice holds of a node, in a form that differs whenever the slice does:
// its own nodes, the kept edges, and for each node the shard-crossing neighbours
// that stubs stand for.
func sliceView(s *lethe.Snapshot, a map[lethe.Pseudonym]lethe.ShardID, shard lethe.ShardID) string {
	var out strings.Builder
	for _, n := range s.Nodes {
		if a[n.Pseudonym] == shard {
			fmt.Fprintf(&out, "node %v\n", n.Pseudonym)
		}
	}
	for _, e := range s.Undirected() {
		p, q := s.Nodes[e.A].Pseudonym, s.Nodes[e.B].Pseudonym
		if a[p] == shard || a[q] == shard {
			fmt.Fprintf(&out, "edge %v %v\n", p, q)
		}
	}
	return out.String()
}

// Scope stubs reaches exactly the slices that differ from those of a stream
// that never held the nodes; scope shard never more than that.
func TestPlanReachesExactlyWhatChanges(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		n := rapid.IntRange(1, 9).Draw(rt, "nodes")
		s := &lethe.Snapshot{Timestep: 4}
		assignment := make([]lethe.ShardID, n)
		byPseudonym := map[lethe.Pseudonym]lethe.ShardID{}
		for i := range n {
			p := lethe.Pseudonym{byte(i)}
			s.Nodes = append(s.Nodes, lethe.SnapshotNode{Pseudonym: p})
			assignment[i] = lethe.ShardID(rapid.IntRange(0, 4).Draw(rt, "shard"))
			byPseudonym[p] = assignment[i]
		}
		for a := range n {
			for b := range n {
				if a != b && rapid.IntRange(0, 3).Draw(rt, "payment") == 0 {
					s.Payments = append(s.Payments, lethe.Arc{Source: uint32(a), Target: uint32(b)})
				}
			}
		}
		gone := rapid.SliceOfN(rapid.IntRange(0, n-1), 1, 3).Draw(rt, "gone")
		drop := map[lethe.Pseudonym]bool{}
		for _, i := range gone {
			drop[s.Nodes[i].Pseudonym] = true
		}
		after := s.Without(func(p lethe.Pseudonym) bool { return drop[p] })
		var want []lethe.ShardID
		for shard := range lethe.ShardID(5) {
			if sliceView(s, byPseudonym, shard) != sliceView(after, byPseudonym, shard) {
				want = append(want, shard)
			}
		}
		stubs, err := deletions.PlanErasure(s, assignment, gone, lethe.ScopeStubs)
		require.NoError(rt, err)
		require.Equal(rt, want, stubs.Affected)
		require.Len(rt, after.Payments, len(s.Payments)-len(stubs.Payments))
		own, err := deletions.PlanErasure(s, assignment, gone, lethe.ScopeShard)
		require.NoError(rt, err)
		require.Subset(rt, want, own.Affected)
		require.Equal(rt, own.Own, own.Affected)
	})
}

func TestReachMergesPlans(t *testing.T) {
	steps, replaced, shards := deletions.Reach([]deletions.Plan{
		{Timestep: 9, Affected: []lethe.ShardID{0, 3}},
		{Timestep: 2, Affected: []lethe.ShardID{3, 5}},
		{Timestep: 9, Affected: []lethe.ShardID{3, 4}},
	})
	require.Equal(t, []lethe.Timestep{2, 9}, steps)
	require.Equal(t, []deletions.SliceRef{{2, 3}, {2, 5}, {9, 0}, {9, 3}, {9, 4}}, replaced)
	require.Equal(t, []lethe.ShardID{0, 3, 4, 5}, shards)
}
