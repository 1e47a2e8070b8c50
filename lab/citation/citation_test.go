package citation_test

import (
	"bytes"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/cockroachdb/datadriven"
	"github.com/sbinet/npyio/npz"
	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"

	"lethe"
	"lethe/dataset"
	"lethe/lab/citation"
)

// small is a graph of three nodes: a payment stored both ways, one stored one
// way, a self loop and a repetition; features with a stored zero and columns
// out of order.
func small() map[string]any {
	return map[string]any{
		"adj_indptr":   []int32{0, 3, 4, 6},
		"adj_indices":  []int32{0, 1, 1, 0, 1, 2},
		"attr_indptr":  []int64{0, 2, 3, 4},
		"attr_indices": []int64{3, 0, 2, 1},
		"attr_data":    []float32{1.5, -1, 0, 2},
		"attr_shape":   []int64{3, 4},
		"labels":       []int8{1, 0, 1},
	}
}

// archive writes with npyio, which shares no code with the loader.
func archive(tb testing.TB, members map[string]any) []byte {
	tb.Helper()
	var buf bytes.Buffer
	w := npz.NewWriter(&buf)
	for _, name := range slices.Sorted(maps.Keys(members)) {
		require.NoError(tb, w.Write(name+".npy", members[name]))
	}
	require.NoError(tb, w.Close())
	return buf.Bytes()
}

func readCitation(content []byte) (*citation.Graph, error) {
	return citation.Read(bytes.NewReader(content), int64(len(content)))
}

func TestGraphIsMadeSimple(t *testing.T) {
	want := &citation.Graph{
		NumNodes: 3, AdjacencyEntries: 6,
		Edges: []lethe.Edge{{A: 0, B: 1}, {A: 1, B: 2}},
		Features: &citation.Sparse{
			Rows: 3, Columns: 4, RowStart: []int{0, 2, 2, 3},
			Column: []int32{0, 3, 1}, Value: []float32{-1, 1.5, 2},
		},
		Labels: []int{1, 0, 1}, Classes: 2,
	}
	got, err := readCitation(archive(t, small()))
	require.NoError(t, err)
	require.Equal(t, want, got)
	require.Equal(t, []float32{-1, 0, 0, 1.5, 0, 0, 0, 0, 0, 2, 0, 0}, got.Features.Dense())
	columns, values := got.Features.Row(0)
	require.Equal(t, []int32{0, 3}, columns)
	require.Equal(t, []float32{-1, 1.5}, values)

	dense := small()
	for _, name := range []string{"attr_indptr", "attr_indices", "attr_data", "attr_shape"} {
		delete(dense, name)
	}
	dense["attr_matrix"] = mat.NewDense(3, 4, []float64{-1, 0, 0, 1.5, 0, 0, 0, 0, 0, 2, 0, 0})
	got, err = readCitation(archive(t, dense))
	require.NoError(t, err)
	require.Equal(t, want, got, "dense features say the same")

	weighted := small()
	weighted["adj_data"] = []float32{1, 1, 1, 1, 0, 1}
	weighted["adj_shape"] = []int64{3, 3}
	got, err = readCitation(archive(t, weighted))
	require.NoError(t, err)
	require.Equal(t, want.Edges[:1], got.Edges, "a stored zero is no edge")
}

func TestEveryNumberTypeIsRead(t *testing.T) {
	for _, labels := range []any{
		[]int16{1, 0, 1}, []int32{1, 0, 1}, []int64{1, 0, 1},
		[]uint8{1, 0, 1}, []uint16{1, 0, 1}, []uint32{1, 0, 1}, []uint64{1, 0, 1},
	} {
		members := small()
		members["labels"] = labels
		members["attr_data"] = []float64{1.5, -1, 0, 2}
		got, err := readCitation(archive(t, members))
		require.NoError(t, err)
		require.Equal(t, []int{1, 0, 1}, got.Labels)
		require.Equal(t, []float32{-1, 1.5, 2}, got.Features.Value)
	}
}

func TestLoadErrors(t *testing.T) {
	set := func(name string, value any) func(map[string]any) {
		return func(m map[string]any) { m[name] = value }
	}
	spoilt := map[string]func(map[string]any){
		"no labels":               func(m map[string]any) { delete(m, "labels") },
		"no graph":                func(m map[string]any) { delete(m, "adj_indptr"); delete(m, "adj_indices") },
		"no feature values":       func(m map[string]any) { delete(m, "attr_data") },
		"no node":                 set("adj_indptr", []int32{0}),
		"start not 0":             set("adj_indptr", []int32{1, 3, 4, 6}),
		"start falls":             set("adj_indptr", []int32{0, 4, 3, 6}),
		"too few neighbours":      set("adj_indices", []int32{0, 1, 1, 0, 1}),
		"neighbour out of range":  set("adj_indices", []int32{0, 1, 1, 0, 1, 3}),
		"neighbour negative":      set("adj_indices", []int32{0, 1, 1, 0, 1, -1}),
		"fractional neighbours":   set("adj_indices", []float32{0, 1, 1, 0, 1, 2}),
		"graph of another shape":  set("adj_shape", []int64{3, 4}),
		"weights of another size": set("adj_data", []float32{1}),
		"labels of another size":  set("labels", []int8{1, 0}),
		"label negative":          set("labels", []int8{1, 0, -1}),
		"label too large":         set("labels", []int8{1, 0, 100}),
		"features of other nodes": func(m map[string]any) {
			m["attr_shape"] = []int64{2, 4}
			m["attr_indptr"] = []int64{0, 2, 4}
		},
		"shape without rows":     set("attr_shape", []int64{0, 4}),
		"shape of three numbers": set("attr_shape", []int64{3, 4, 1}),
		"features transposed": func(m map[string]any) {
			m["attr_shape"], m["attr_indptr"] = []int64{4, 3}, []int64{0, 1, 2, 3, 4}
			m["attr_indices"] = []int64{0, 2, 1, 0}
		},
		"class left out":         set("labels", []int8{2, 0, 2}),
		"column out of range":    set("attr_indices", []int64{4, 0, 2, 1}),
		"column twice":           set("attr_indices", []int64{3, 3, 2, 1}),
		"values of another size": set("attr_data", []float32{1, 2}),
		"value not finite":       set("attr_data", []float32{1, float32(math.Inf(1)), 0, 2}),
		"value beyond float32":   set("attr_data", []float64{1, 1e300, 0, 2}),
		"flat dense features":    set("attr_matrix", []float32{1, 2, 3}),
	}
	datadriven.RunTest(t, "testdata/citation", func(t *testing.T, d *datadriven.TestData) string {
		var out bytes.Buffer
		for _, name := range slices.Sorted(maps.Keys(spoilt)) {
			members := small()
			spoilt[name](members)
			_, err := readCitation(archive(t, members))
			require.ErrorIs(t, err, dataset.ErrMalformed, name)
			out.WriteString(name + ": " + err.Error() + "\n")
		}
		return out.String()
	})
}

// Damage must end in an error or in the very graph, never in a panic or in
// other numbers: the archive's checksums see to the latter.
func TestDamagedArchives(t *testing.T) {
	whole := archive(t, small())
	want, err := readCitation(whole)
	require.NoError(t, err)
	for n := range whole {
		_, err := readCitation(whole[:n])
		require.ErrorIs(t, err, dataset.ErrMalformed, "cut to %d bytes", n)
		flipped := slices.Clone(whole)
		flipped[n] ^= 0x10
		if got, err := readCitation(flipped); err == nil {
			require.Equal(t, want, got, "byte %d flipped", n)
		} else {
			require.ErrorIs(t, err, dataset.ErrMalformed)
		}
	}
}

func TestLoadNamesThePath(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "tiny.npz")
	require.NoError(t, os.WriteFile(path, archive(t, small()), 0o600))
	c, err := citation.Load(path)
	require.NoError(t, err)
	require.Equal(t, "tiny", c.Name)
	require.NoError(t, os.WriteFile(path, []byte("not a zip"), 0o600))
	_, err = citation.Load(path)
	require.ErrorIs(t, err, dataset.ErrMalformed)
	require.ErrorContains(t, err, path)
	_, err = citation.Load(filepath.Join(dir, "none.npz"))
	require.ErrorIs(t, err, os.ErrNotExist)
}
