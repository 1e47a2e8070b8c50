package scoring_test

import (
	"encoding/json"
	"errors"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"lethe"
	"lethe/scoring"
)

// goldenFile decodes a reference file, or skips the test where there is none.
func goldenFile(t *testing.T, name string, into any) {
	t.Helper()
	dir := os.Getenv("LETHE_GOLDEN")
	if dir == "" {
		dir = filepath.Join("..", "..", "shared", "golden")
	}
	data, err := os.ReadFile(filepath.Join(dir, name))
	if errors.Is(err, fs.ErrNotExist) {
		t.Skipf("no reference vectors: set LETHE_GOLDEN to the folder that holds %s", name)
	}
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(data, into))
}

// near is the references' rule for float64 code.
func near(t *testing.T, want, got float64, what string) {
	t.Helper()
	require.LessOrEqual(t, math.Abs(want-got), 1e-10+1e-9*math.Abs(want), "%s: want %v, got %v", what, want, got)
}

type tensor struct {
	Shape []int
	Data  []float64
}

type goldenKernel struct {
	D      int
	Graphs []struct {
		Name        string
		NumNodes    int         `json:"num_nodes"`
		EdgeIndex   [2][]uint32 `json:"edge_index"`
		Eigenvalues []float64   `json:"eigenvalues_by_magnitude"`
		Embedding   tensor
	}
	Pairs []struct {
		A, B    int
		ByLevel map[string]struct {
			I          []float64
			K          float64
			Normalised float64 `json:"k_normalised"`
		} `json:"by_finest_level"`
	}
}

// denseLimits makes every reference graph go through both eigensolvers.
var denseLimits = map[string]int{"dense": 100, "krylov": 1}

func (g *goldenKernel) edges(i int) []lethe.Edge {
	index := g.Graphs[i].EdgeIndex
	edges := make([]lethe.Edge, len(index[0]))
	for e := range edges {
		edges[e] = lethe.Edge{A: index[0][e], B: index[1][e]}
	}
	return edges
}

func TestGoldenEmbedding(t *testing.T) {
	var golden goldenKernel
	goldenFile(t, "kernel.json", &golden)
	require.NotEmpty(t, golden.Graphs)
	for solver, limit := range denseLimits {
		for i, g := range golden.Graphs {
			t.Run(solver+"/"+g.Name, func(t *testing.T) {
				e, err := scoring.Embed(g.NumNodes, golden.edges(i), scoring.PyramidOptions{Dimensions: golden.D, DenseLimit: limit})
				require.NoError(t, err)
				require.Len(t, e.Values, min(golden.D, g.NumNodes))
				for j, value := range e.Values {
					near(t, g.Eigenvalues[j], value, "eigenvalue "+strconv.Itoa(j))
				}
				require.Equal(t, []int{e.NumNodes, e.Dimensions}, g.Embedding.Shape)
				for j, want := range g.Embedding.Data {
					near(t, want, e.Entries[j], "entry "+strconv.Itoa(j))
				}
			})
		}
	}
}

func TestGoldenKernel(t *testing.T) {
	var golden goldenKernel
	goldenFile(t, "kernel.json", &golden)
	require.NotEmpty(t, golden.Pairs)
	for solver, limit := range denseLimits {
		for _, pair := range golden.Pairs {
			for level, want := range pair.ByLevel {
				t.Run(solver+"/"+golden.Graphs[pair.A].Name+golden.Graphs[pair.B].Name+"/"+level, func(t *testing.T) {
					levels, err := strconv.Atoi(level)
					require.NoError(t, err)
					opts := scoring.PyramidOptions{Dimensions: golden.D, Levels: levels, DenseLimit: limit}
					a, err := scoring.HistogramOf(golden.Graphs[pair.A].NumNodes, golden.edges(pair.A), opts)
					require.NoError(t, err)
					b, err := scoring.HistogramOf(golden.Graphs[pair.B].NumNodes, golden.edges(pair.B), opts)
					require.NoError(t, err)
					matches, err := scoring.Intersections(a, b)
					require.NoError(t, err)
					require.Equal(t, want.I, matches)
					k, err := scoring.Kernel(a, b)
					require.NoError(t, err)
					require.Equal(t, want.K, k)
					normalised, err := scoring.Normalised(a, b)
					require.NoError(t, err)
					near(t, want.Normalised, normalised, "normalised")
				})
			}
		}
	}
}

type goldenMetrics struct {
	Cases []struct {
		Name      string
		Classes   int
		Y, Pred   []int
		Score     []float64
		Threshold float64
		Expect    struct {
			AUC               *float64 `json:"roc_auc"`
			AveragePrecision  *float64 `json:"average_precision"`
			Accuracy          float64
			Confusion         tensor
			Precision, Recall []float64
			F1                []float64
			Support           []int
			MacroF1           float64 `json:"macro_f1"`
			MacroF1Present    float64 `json:"macro_f1_present"`
		}
	}
}

func TestGoldenMetrics(t *testing.T) {
	var golden goldenMetrics
	goldenFile(t, "metrics.json", &golden)
	require.NotEmpty(t, golden.Cases)
	for _, c := range golden.Cases {
		t.Run(c.Name, func(t *testing.T) {
			confusion, err := scoring.NewConfusion(c.Y, c.Pred, c.Classes)
			require.NoError(t, err)
			want := c.Expect
			near(t, want.Accuracy, confusion.Accuracy(), "accuracy")
			near(t, want.MacroF1, confusion.MacroF1(), "macro F1")
			near(t, want.MacroF1Present, confusion.MacroF1Present(), "macro F1 over present classes")
			for class := range c.Classes {
				require.Equal(t, want.Support[class], confusion.Support(class))
				near(t, want.Precision[class], confusion.Precision(class), "precision")
				near(t, want.Recall[class], confusion.Recall(class), "recall")
				near(t, want.F1[class], confusion.F1(class), "F1")
				for predicted, n := range confusion[class] {
					require.Equal(t, want.Confusion.Data[class*c.Classes+predicted], float64(n))
				}
			}
			if c.Score == nil {
				return
			}
			labels := make([]lethe.Label, len(c.Y))
			for i, y := range c.Y {
				labels[i] = []lethe.Label{lethe.Licit, lethe.Illicit}[y]
			}
			s := scoring.Summarise(c.Score, labels, c.Threshold)
			nearOrNull(t, want.AUC, s.AUC, "AUC")
			nearOrNull(t, want.AveragePrecision, s.AveragePrecision, "average precision")
			near(t, want.Accuracy, s.Accuracy, "accuracy from scores")
			near(t, want.MacroF1Present, s.MacroF1, "macro F1 from scores")
			near(t, want.F1[1], s.IllicitF1, "illicit F1")
			near(t, want.Precision[1], s.Precision, "precision")
			near(t, want.Recall[1], s.Recall, "recall")
			require.Equal(t, len(c.Y), s.Labelled)
			require.Equal(t, want.Support[1], s.Illicit)
		})
	}
}

func nearOrNull(t *testing.T, want, got *float64, what string) {
	t.Helper()
	require.Equal(t, want == nil, got == nil, what)
	if want != nil {
		near(t, *want, *got, what)
	}
}
