package scores_test

import (
	"testing"

	"lethe/internal/golden"

	"github.com/stretchr/testify/require"

	"lethe/partition/graph"
	"lethe/partition/graphtest"
	"lethe/partition/scores"
)

type goldenScoresFile struct {
	Scores []struct {
		Name       string
		NumNodes   int         `json:"num_nodes"`
		NumShards  int         `json:"num_shards"`
		NumClasses int         `json:"num_classes"`
		EdgeIndex  [2][]uint32 `json:"edge_index"`
		Y          []int
		Assignment graph.Assignment
		Expect     struct {
			ShardSizes []int         `json:"shard_sizes"`
			Counts     golden.Tensor `json:"label_counts"`
			Balance    float64       `json:"balance_score"`
			Fairness   float64       `json:"fairness_score"`
			CutEdges   int           `json:"cut_edges"`
			TotalEdges int           `json:"total_edges"`
			CutRatio   float64       `json:"cut_ratio"`
		}
	}
}

func TestGoldenScores(t *testing.T) {
	golden.Each(t, "partition.json", func(t *testing.T, file goldenScoresFile) {
		require.NotEmpty(t, file.Scores)
		for _, c := range file.Scores {
			t.Run(c.Name, func(t *testing.T) {
				g, err := graph.New(c.NumNodes, graphtest.ListedEdges(c.EdgeIndex), graphtest.ClassesOf(c.Y), c.NumClasses)
				require.NoError(t, err)
				s, err := scores.Of(g, c.Assignment, c.NumShards)
				require.NoError(t, err)
				require.Equal(t, c.Expect.ShardSizes, s.Sizes)
				require.Equal(t, c.Expect.CutEdges, s.CutEdges)
				require.Equal(t, c.Expect.TotalEdges, s.Edges)
				var counts []float64
				for _, row := range s.ClassCounts {
					for _, count := range row {
						counts = append(counts, float64(count))
					}
				}
				require.Equal(t, c.Expect.Counts.Data, counts)
				graphtest.RequireClose(t, []float64{c.Expect.Balance, c.Expect.Fairness, c.Expect.CutRatio},
					[]float64{s.Balance, s.Fairness, s.EdgeCut}, "balance, fairness, cut")
			})
		}
	})
}
