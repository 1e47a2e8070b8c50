package graphs_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"lethe"
	"lethe/dataset"
	"lethe/internal/realdata"
	"lethe/lab/graphs"
)

func graphOf(t *testing.T) *graphs.Graph {
	t.Helper()
	step := dataset.Step{
		Timestep:     4,
		Transactions: []lethe.Transaction{{ID: "a"}, {ID: "b"}, {ID: "c"}, {ID: "d"}},
		Payments: []lethe.Payment{
			{Source: "b", Target: "a"}, {Source: "a", Target: "b"}, {Source: "c", Target: "d"},
			{Source: "c", Target: "elsewhere"},
		},
		Labels: []lethe.LabelRecord{{ID: "b", Label: lethe.Illicit}, {ID: "d", Label: lethe.Licit}},
	}
	return graphs.FromStep(&step)
}

func TestStepGraphMergesPaymentsAndKeepsUnknownAsAClass(t *testing.T) {
	g := graphOf(t)
	require.Equal(t, []lethe.Edge{{A: 0, B: 1}, {A: 2, B: 3}}, g.Edges)
	require.Equal(t, []uint8{0, 2, 0, 1}, g.Classes)
	require.Equal(t, "c", g.ID(2))
}

func TestInduceKeepsTheFractionAndItsEdges(t *testing.T) {
	g := graphOf(t)
	require.Same(t, g, g.Induce(1, 9))
	for seed := range uint64(20) {
		half := g.Induce(0.5, seed)
		require.Equal(t, 2, half.NumNodes())
		require.Equal(t, half, g.Induce(0.5, seed), "the same seed gives the same nodes")
		want := 0
		if first, second := half.ID(0), half.ID(1); first == "a" && second == "b" || first == "c" && second == "d" {
			want = 1
		}
		require.Len(t, half.Edges, want)
	}
}

func TestCitationGraphIsNamedByRow(t *testing.T) {
	all, err := graphs.Load(t.Context(), realdata.Path(t, "planetoid", "cora.npz"))
	require.NoError(t, err)
	require.Len(t, all, 1)
	g := all[0].Induce(0.8, 0)
	require.Equal(t, 2166, g.NumNodes())
	require.Equal(t, 7, g.NumClasses)
	require.Less(t, len(g.Edges), len(all[0].Edges))
}
