package citation_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"lethe"
	"lethe/dataset"
	"lethe/internal/realdata"
	"lethe/lab/citation"
)

func TestPlanetoid(t *testing.T) {
	// The paper's table of data sets counts stored entries for edges.
	for _, c := range []struct {
		name                              string
		nodes, entries, features, classes int
	}{{"cora", 2708, 10556, 1433, 7}, {"citeseer", 3327, 9104, 3703, 6}} {
		path := realdata.Path(t, "planetoid", c.name+".npz")
		g, err := citation.Load(path)
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

// again turns a citation graph back into the arrays it was read from.
func again(c *citation.Graph, edges []lethe.Edge, labels []int) map[string]any {
	neighbours := make([][]int32, c.NumNodes)
	for _, e := range edges {
		neighbours[e.A] = append(neighbours[e.A], int32(e.B))
	}
	starts, indices, stored := []int32{0}, []int32{}, []int64{}
	for _, n := range neighbours {
		indices = append(indices, n...)
		starts = append(starts, int32(len(indices)))
	}
	for _, s := range c.Features.RowStart {
		stored = append(stored, int64(s))
	}
	classes := make([]int64, len(labels))
	for i, l := range labels {
		classes[i] = int64(l)
	}
	return map[string]any{
		"adj_indptr": starts, "adj_indices": indices, "labels": classes,
		"attr_indptr": stored, "attr_indices": c.Features.Column, "attr_data": c.Features.Value,
		"attr_shape": []int64{int64(c.Features.Rows), int64(c.Features.Columns)},
	}
}

// Damage that leaves a graph whole in itself shows in what is known of Cora.
func TestPublishedGraphsMustBeWhole(t *testing.T) {
	cora, err := citation.Load(realdata.Path(t, "planetoid", "cora.npz"))
	require.NoError(t, err)
	same, err := readCitation(archive(t, again(cora, cora.Edges, cora.Labels)))
	require.NoError(t, err, "each edge stored once is the same graph")
	require.Equal(t, "Cora", same.Published)

	shifted := append(slices.Clone(cora.Labels[1:]), cora.Labels[0])
	merged := slices.Clone(cora.Labels)
	for i, l := range merged {
		merged[i] = l % 5
	}
	larger := &citation.Graph{NumNodes: 2709, Features: cora.Features}
	for want, members := range map[string]map[string]any{
		"5277 undirected edges, Cora has 5278: the graph was cut short": again(cora, cora.Edges[:5277], cora.Labels),
		"5 classes, Cora has 7: the labels are another's":               again(cora, cora.Edges, merged),
		"edges join nodes of one class, in Cora 4275 do: the labels are in another order": again(
			cora, cora.Edges, shifted),
		"the features have 2708 rows for 2709 nodes": again(
			larger, cora.Edges, append(slices.Clone(cora.Labels), 0)),
	} {
		_, err := readCitation(archive(t, members))
		require.ErrorIs(t, err, dataset.ErrMalformed)
		require.ErrorContains(t, err, want)
	}
}

func BenchmarkLoadCora(b *testing.B) {
	path := realdata.Path(b, "planetoid", "cora.npz")
	b.ReportAllocs()
	for b.Loop() {
		_, err := citation.Load(path)
		require.NoError(b, err)
	}
}
