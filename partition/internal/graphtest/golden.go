package graphtest

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"lethe"
)

// Float64 code is held to these limits, not to those of the file, which are for
// float32.
const (
	goldenRelative = 1e-9
	goldenAbsolute = 1e-10
)

type Tensor struct {
	Shape []int     `json:"shape"`
	Data  []float64 `json:"data"`
}

func ReadGolden(t *testing.T, name string, into any) {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join(Folder(t, "LETHE_GOLDEN", "golden"), name))
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(raw, into))
}

func RequireClose(t *testing.T, want, got []float64, what string) {
	t.Helper()
	require.Len(t, got, len(want), what)
	for i := range want {
		limit := goldenAbsolute + goldenRelative*math.Abs(want[i])
		require.LessOrEqual(t, math.Abs(got[i]-want[i]), limit, "%s[%d]: got %v, want %v", what, i, got[i], want[i])
	}
}

// ListedEdges turns an edge index that lists both directions into edges.
func ListedEdges(index [2][]uint32) []lethe.Edge {
	edges := make([]lethe.Edge, len(index[0]))
	for k := range edges {
		edges[k] = lethe.Edge{A: index[0][k], B: index[1][k]}
	}
	return edges
}

func ClassesOf(y []int) []uint8 {
	classes := make([]uint8, len(y))
	for i := range y {
		classes[i] = uint8(y[i])
	}
	return classes
}
