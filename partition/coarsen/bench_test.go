package coarsen

import (
	"testing"

	"github.com/stretchr/testify/require"

	"lethe/partition/graphtest"
)

func BenchmarkCoarsen(b *testing.B) {
	g := graphtest.Planted(b, 50_000)
	b.ReportAllocs()
	for b.Loop() {
		_, err := New(b.Context(), g, 20, 0)
		require.NoError(b, err)
	}
}
