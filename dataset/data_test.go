package dataset_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"lethe"
	"lethe/dataset"
)

// dataDir is the folder of real data: LETHE_DATA, or the usual place beside the
// module. The test is skipped when the wanted part is not there.
func dataDir(tb testing.TB, part ...string) string {
	tb.Helper()
	root := os.Getenv("LETHE_DATA")
	if root == "" {
		root = filepath.Join("..", "..", "shared", "data")
	}
	path := filepath.Join(append([]string{root}, part...)...)
	if _, err := os.Stat(path); err != nil {
		tb.Skipf("no real data: %v; set LETHE_DATA", err)
	}
	return path
}

func bitcoinOTC(tb testing.TB) *dataset.Stream {
	tb.Helper()
	dir := dataDir(tb, "bitcoin-otc", "elliptic-format")
	kind, err := dataset.Detect(dir)
	require.NoError(tb, err)
	require.Equal(tb, dataset.Elliptic, kind)
	s, err := dataset.LoadElliptic(context.Background(), dir)
	require.NoError(tb, err)
	return s
}

func TestBitcoinOTC(t *testing.T) {
	s := bitcoinOTC(t)
	require.NoError(t, s.Validate())
	require.Equal(t, "elliptic-format", s.Name)
	require.Equal(t, 59, s.FeatureCount)
	first, last := s.Range()
	require.Equal(t, []lethe.Timestep{1, 49}, []lethe.Timestep{first, last})
	total := s.Totals()
	require.Equal(t, []int{49, 35592, 44802}, []int{total.Steps, total.Transactions, total.Payments})
	for _, c := range []struct {
		from, to       lethe.Timestep
		illicit, licit int
	}{{1, 29, 935, 7541}, {30, 34, 176, 1165}, {35, 49, 1551, 3275}} {
		part, err := s.Slice(c.from, c.to)
		require.NoError(t, err)
		labels := part.Totals().Labels
		require.Equal(t, c.illicit, labels[lethe.Illicit], "steps %d-%d", c.from, c.to)
		require.Equal(t, c.licit, labels[lethe.Licit], "steps %d-%d", c.from, c.to)
	}
	row := s.Steps[0].Transactions[0].Features
	require.Equal(t, []float32{-1.3912, -0.74846, -0.037136}, []float32{row[0], row[1], row[58]})
}

func TestBitcoinOTCSurvivesWriting(t *testing.T) {
	s := bitcoinOTC(t)
	dir := filepath.Join(t.TempDir(), "elliptic-format")
	require.NoError(t, dataset.WriteElliptic(dir, s, dataset.WriteOptions{}))
	again, err := dataset.LoadElliptic(context.Background(), dir)
	require.NoError(t, err)
	require.Equal(t, s, again)
}

func TestPlanetoid(t *testing.T) {
	// The paper's table of data sets counts stored entries for edges.
	for _, c := range []struct {
		name                              string
		nodes, entries, features, classes int
	}{{"cora", 2708, 10556, 1433, 7}, {"citeseer", 3327, 9104, 3703, 6}} {
		path := dataDir(t, "planetoid", c.name+".npz")
		kind, err := dataset.Detect(path)
		require.NoError(t, err)
		require.Equal(t, dataset.CitationArchive, kind)
		g, err := dataset.LoadCitation(path)
		require.NoError(t, err)
		require.Equal(t, c.name, g.Name)
		require.Equal(t, c.name, strings.ToLower(g.Published))
		require.Equal(t, []int{c.nodes, c.entries, c.features, c.classes},
			[]int{g.NumNodes, g.AdjacencyEntries, g.Features.Columns, g.Classes})
		require.Len(t, g.Edges, c.entries/2, "each edge is stored both ways")
		require.Len(t, g.Labels, c.nodes)
		require.Equal(t, c.nodes, g.Features.Rows)
		t.Logf("%s: %d nodes, %d undirected edges (%d entries), %d features (%d non-zero), %d classes",
			g.Name, g.NumNodes, len(g.Edges), g.AdjacencyEntries, g.Features.Columns, len(g.Features.Value), g.Classes)
	}
}

func BenchmarkLoadBitcoinOTC(b *testing.B) {
	dir := dataDir(b, "bitcoin-otc", "elliptic-format")
	b.ReportAllocs()
	for b.Loop() {
		_, err := dataset.LoadElliptic(context.Background(), dir)
		require.NoError(b, err)
	}
}

func BenchmarkLoadCora(b *testing.B) {
	path := dataDir(b, "planetoid", "cora.npz")
	b.ReportAllocs()
	for b.Loop() {
		_, err := dataset.LoadCitation(path)
		require.NoError(b, err)
	}
}
