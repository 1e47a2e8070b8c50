// Package golden reads the reference vectors that tests compare with.
package golden

import (
	"encoding/json"
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"lethe"
)

// Tensor is a tensor of the reference vectors, row-major.
type Tensor struct {
	Shape []int     `json:"shape"`
	Data  []float64 `json:"data"`
}

// Floats returns the values in single precision.
func (g Tensor) Floats() []float32 {
	out := make([]float32, len(g.Data))
	for i, v := range g.Data {
		out[i] = float32(v)
	}
	return out
}

// File has the common fields of the files.
type File struct {
	Rtol  float64           `json:"rtol"`
	Atol  float64           `json:"atol"`
	Cases []json.RawMessage `json:"cases"`
}

// Comparer checks values against one case's expectations.
type Comparer struct {
	T          *testing.T
	Rtol, Atol float64
	// Special replaces Atol for certain paths under expect.
	Special map[string]float64
}

// Values accepts |got − want| ≤ atol + rtol·|want|.
func (c Comparer) Values(path string, want Tensor, got []float32) {
	c.T.Helper()
	require.Len(c.T, got, len(want.Data), path)
	atol := c.Atol
	if v, ok := c.Special[path]; ok {
		atol = v
	}
	for i, w := range want.Data {
		limit := atol + c.Rtol*max(w, -w)
		diff := float64(got[i]) - w
		// Written so that NaN fails.
		if !(max(diff, -diff) <= limit) {
			require.Failf(c.T, "value differs", "%s[%d]: got %g, want %g ± %g", path, i, got[i], w, limit)
		}
	}
}

// Number is Values for one number.
func (c Comparer) Number(path string, want, got float64) {
	c.T.Helper()
	c.Values(path, Tensor{Data: []float64{want}}, []float32{float32(got)})
}

// Near is the references' rule for double precision: |got − want| ≤ 1e-10 + 1e-9·|want|.
func Near(t *testing.T, want, got float64, what string) {
	t.Helper()
	require.LessOrEqual(t, math.Abs(want-got), 1e-10+1e-9*math.Abs(want), "%s: want %v, got %v", what, want, got)
}

// Undirected turns both directions of every edge into one with A < B.
func Undirected(edgeIndex [][]uint32) []lethe.Edge {
	if len(edgeIndex) == 0 {
		return nil
	}
	var edges []lethe.Edge
	for i, source := range edgeIndex[0] {
		if target := edgeIndex[1][i]; source < target {
			edges = append(edges, lethe.Edge{A: source, B: target})
		}
	}
	slices.SortFunc(edges, lethe.Edge.Compare)
	return edges
}
