package aggregation_test

import (
	"encoding/csv"
	"os"
	"path/filepath"
	"testing"

	"lethe/internal/realdata"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"lethe"
	"lethe/lab/aggregation"
	"lethe/lab/similarity"
	"lethe/scoring/graphtest"
)

func TestWeightsAreADistribution(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		test := graphtest.Graphs(12).Draw(rt, "test")
		temperature := rapid.Float64Range(1e-3, 10).Draw(rt, "temperature")
		reference := histogram(rt, test)
		count := rapid.IntRange(1, 6).Draw(rt, "shards")
		shards := make([]*similarity.Histogram, count)
		similarities := make([]float64, count)
		for i := range shards {
			g := graphtest.Graphs(12).Draw(rt, "shard")
			shards[i] = histogram(rt, g)
			var err error
			similarities[i], err = similarity.Normalised(reference, shards[i])
			require.NoError(rt, err)
		}
		for _, method := range []string{aggregation.MethodMean, aggregation.MethodSimilarity} {
			weights, err := weigh(method, temperature, &test, shards)
			require.NoError(rt, err)
			sum := 0.0
			for i, w := range weights {
				require.GreaterOrEqual(rt, w, 0.0)
				sum += w
				for j, other := range weights {
					if similarities[i] >= similarities[j] {
						require.GreaterOrEqual(rt, w, other, "the more similar shard weighs no less")
					}
					if method == aggregation.MethodMean {
						require.Equal(rt, w, other)
					}
				}
			}
			require.InDelta(rt, 1, sum, 1e-12)
		}
	})
}

func histogram(t require.TestingT, g graphtest.Graph) *similarity.Histogram {
	h, err := similarity.HistogramOf(g.N, g.Edges, similarity.Defaults())
	require.NoError(t, err)
	return h
}

// weigh asks an aggregation about a graph and the histograms of the shards.
func weigh(method string, temperature float64, test *graphtest.Graph,
	shards []*similarity.Histogram) (aggregation.Weights, error) {
	by, err := aggregation.New(method, temperature)
	if err != nil {
		return nil, err
	}
	combiner, err := by.Combiner(aggregation.Evidence{
		Shards: len(shards), Nodes: test.N, Edges: test.Edges,
		Vectors: func() ([][]byte, error) {
			vectors := make([][]byte, len(shards))
			for shard, h := range shards {
				if vectors[shard], err = h.MarshalBinary(); err != nil {
					return nil, err
				}
			}
			return vectors, nil
		},
	})
	if err != nil {
		return nil, err
	}
	return combiner.(aggregation.Weights), nil
}

func TestCombineRefusesWrongUse(t *testing.T) {
	require.Panics(t, func() { aggregation.Weights(nil).Combine([][]float32{{1}}, 1, nil) })
	require.Panics(t, func() { aggregation.Weights{0.5, 0.5}.Combine([][]float32{{1}, {1, 2}}, 1, nil) })
}

// timesteps reads an Elliptic-style dataset as one graph per timestep.
func timesteps(t *testing.T) map[string]*graphtest.Graph {
	dir := realdata.Path(t, "bitcoin-otc", "elliptic-format")
	read := func(name string) [][]string {
		f, err := os.Open(filepath.Join(dir, name))
		require.NoError(t, err)
		defer f.Close()
		rows, err := csv.NewReader(f).ReadAll()
		require.NoError(t, err)
		return rows
	}
	out := map[string]*graphtest.Graph{}
	step, position := map[string]string{}, map[string]uint32{}
	for _, row := range read("elliptic_txs_features.csv") {
		if out[row[1]] == nil {
			out[row[1]] = &graphtest.Graph{}
		}
		step[row[0]], position[row[0]] = row[1], uint32(out[row[1]].N)
		out[row[1]].N++
	}
	for _, row := range read("elliptic_txs_edgelist.csv")[1:] {
		g := out[step[row[0]]]
		g.Edges = append(g.Edges, lethe.Edge{A: position[row[0]], B: position[row[1]]})
	}
	return out
}

// On real payments: the numbering of the nodes does not matter, and the default
// temperature neither flattens the weights nor lets a few shards decide.
func TestRealPayments(t *testing.T) {
	const shards = 20
	all := timesteps(t)
	for _, name := range []string{"1", "12", "23", "36", "49"} {
		g := all[name]
		require.NotNil(t, g, "timestep %s", name)
		renamed := graphtest.Graph{N: g.N, Edges: graphtest.Relabel(g.Edges, graphtest.Permutation(g.N, 1))}
		require.Equal(t, histogram(t, *g), histogram(t, renamed))

		draw := lethe.NewDraw(1, "test/shards")
		slice := make([]*lethe.Slice, shards)
		for v := range slice {
			slice[v] = &lethe.Slice{}
		}
		of, local := make([]int, g.N), make([]uint32, g.N)
		for i := range g.N {
			of[i] = draw.IntN(shards)
			local[i] = uint32(len(slice[of[i]].Nodes))
			slice[of[i]].Nodes = append(slice[of[i]].Nodes, lethe.Pseudonym{})
		}
		for _, e := range g.Edges {
			if of[e.A] == of[e.B] {
				slice[of[e.A]].Edges = append(slice[of[e.A]].Edges, lethe.Edge{A: local[e.A], B: local[e.B]})
				continue
			}
			for _, end := range []uint32{e.A, e.B} {
				slice[of[end]].Stubs = append(slice[of[end]].Stubs, lethe.Stub{Owner: local[end]})
			}
		}
		histograms := make([]*similarity.Histogram, shards)
		for v, s := range slice {
			var err error
			histograms[v], err = similarity.HistogramOfSlice(s, similarity.Defaults())
			require.NoError(t, err)
		}
		effective := func(temperature float64) float64 {
			weights, err := weigh(aggregation.MethodSimilarity, temperature, g, histograms)
			require.NoError(t, err)
			squares := 0.0
			for _, w := range weights {
				squares += w * w
			}
			return 1 / squares
		}
		require.Greater(t, effective(1), 19.9, "timestep %s: temperature 1 is the mean", name)
		require.InDelta(t, 17, effective(aggregation.DefaultTemperature), 2.5, "timestep %s", name)
		require.Less(t, effective(0.02), 9.0, "timestep %s: a few shards decide", name)
	}
}
