package partition

import (
	"path/filepath"
	"testing"

	"lethe/internal/realdata"

	"github.com/stretchr/testify/require"

	"lethe/partition/graph"
	"lethe/partition/graphtest"
)

// meanScores partitions graphs into 20 shards with the defaults and checks that
// each lies at the rounding optimum: every shard and class within one.
func meanScores(t *testing.T, graphs []*graph.Graph) (balance, fairness, cut float64) {
	t.Helper()
	require.NotEmpty(t, graphs)
	for i, g := range graphs {
		_, report, err := Run(t.Context(), g, refined(Config{Shards: 20, Seed: uint64(i)}))
		require.NoError(t, err)
		graphtest.RequireEven(t, report.Scores)
		balance += report.Scores.Balance / float64(len(graphs))
		fairness += report.Scores.Fairness / float64(len(graphs))
		cut += report.Scores.EdgeCut / float64(len(graphs))
	}
	t.Logf("%d graphs: balance %.4f, fairness %.4f, cut %.4f", len(graphs), balance, fairness, cut)
	return balance, fairness, cut
}

func TestRealBitcoinOTC(t *testing.T) {
	if testing.Short() {
		t.Skip("partitions whole real graphs")
	}
	folder := realdata.Path(t, "bitcoin-otc", "elliptic-format")
	var some []*graph.Graph
	for step, g := range graphtest.ReadSteps(t, folder) {
		if step%4 == 0 {
			some = append(some, g)
		}
	}
	balance, fairness, cut := meanScores(t, some)
	require.GreaterOrEqual(t, balance, -0.01)
	require.GreaterOrEqual(t, fairness, -0.015)
	require.LessOrEqual(t, cut, 0.197)
}

func TestRealCitationGraphs(t *testing.T) {
	if testing.Short() {
		t.Skip("partitions whole real graphs")
	}
	folder := realdata.Path(t, "planetoid")
	for name, bound := range map[string]float64{"cora": 0.25, "citeseer": 0.137} {
		t.Run(name, func(t *testing.T) {
			splits := make([]*graph.Graph, 3)
			for seed := range splits {
				splits[seed] = graphtest.ReadCitation(t, filepath.Join(folder, name+".npz"), 0.8, uint64(seed))
			}
			balance, fairness, cut := meanScores(t, splits)
			require.GreaterOrEqual(t, balance, -0.003)
			require.GreaterOrEqual(t, fairness, -0.015)
			require.LessOrEqual(t, cut, bound)
		})
	}
}
