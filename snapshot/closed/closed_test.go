package closed

import (
	"fmt"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/stretchr/testify/require"

	"lethe"
	"lethe/internal/swapstore"
	"lethe/snapshot/stored"
)

func newGraphs(t *testing.T, capacity int) *Graphs {
	t.Helper()
	graphs, err := New(vfs.NewMem(), "data", capacity)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, graphs.CloseAll()) })
	return graphs
}

// pair is a graph of two transactions of one feature and a payment from the first to the second.
func pair(t lethe.Timestep, feature float32) *lethe.Snapshot {
	return &lethe.Snapshot{
		Timestep: t, Revision: 1, FeatureCount: 1, Features: []float32{feature, 2},
		Nodes:    []lethe.SnapshotNode{{Pseudonym: lethe.Pseudonym{1}, ID: "a"}, {Pseudonym: lethe.Pseudonym{2}, ID: "b"}},
		Payments: []lethe.Arc{{Source: 0, Target: 1}},
	}
}

func TestCreatingReplacesWhatAFailureLeft(t *testing.T) {
	graphs := newGraphs(t, 1)
	require.NoError(t, graphs.Create(t.Context(), pair(5, 1)))
	require.NoError(t, graphs.Create(t.Context(), pair(5, 3)))
	store, err := graphs.Get(5)
	require.NoError(t, err)
	got, err := store.Read()
	require.NoError(t, err)
	require.Equal(t, pair(5, 3), got)
}

func TestFewStoresAreHeldOpen(t *testing.T) {
	graphs := newGraphs(t, 3)
	for at := range lethe.Timestep(11) {
		require.NoError(t, graphs.Create(t.Context(), pair(at, 1)))
		_, err := graphs.Get(at)
		require.NoError(t, err)
		require.LessOrEqual(t, graphs.open.Len(), 3)
	}
	require.Equal(t, []lethe.Timestep{8, 9, 10}, graphs.open.Keys(), "the last used stay")
}

func TestLabelsAndShardsComeBack(t *testing.T) {
	graphs, g := newGraphs(t, 1), pair(3, 1)
	require.NoError(t, graphs.Create(t.Context(), g))
	store, err := graphs.Get(3)
	require.NoError(t, err)
	g.Nodes[1].Label = lethe.Illicit
	d, err := store.Assign(g, []lethe.ShardID{4, 5})
	require.NoError(t, err)
	require.Equal(t, Description{Revision: 1, FeatureCount: 1, Nodes: 2, Payments: 1, Labelled: 1}, d)
	again, err := store.Read()
	require.NoError(t, err)
	shards, err := store.ReadAssigned(again)
	require.NoError(t, err)
	require.Equal(t, g, again)
	require.Equal(t, []lethe.ShardID{4, 5}, shards)
	raised, err := store.Raise(7)
	require.NoError(t, err)
	require.Equal(t, lethe.Revision(8), raised.Revision)
}

// The store that an erasure leaves is that of a graph that never had what went, but for its revision.
func TestAnErasureLeavesTheGraphWithoutWhatWent(t *testing.T) {
	graphs := newGraphs(t, 1)
	require.NoError(t, graphs.Create(t.Context(), pair(3, 1)))
	store, err := graphs.Get(3)
	require.NoError(t, err)
	gone := stored.Erasure{Removal: lethe.Removal{Nodes: map[lethe.Pseudonym]bool{{1}: true}}}
	d, err := store.Erase(t.Context(), gone)
	require.NoError(t, err)
	require.Equal(t, Description{Revision: 2, FeatureCount: 1, Nodes: 1}, d)
	got, err := store.Read()
	require.NoError(t, err)
	require.Equal(t, &lethe.Snapshot{
		Timestep: 3, Revision: 2, FeatureCount: 1, Features: []float32{2}, Nodes: pair(3, 1).Nodes[1:],
	}, got)
	again, err := store.Erase(t.Context(), gone)
	require.NoError(t, err)
	require.Equal(t, d, again, "what is gone already changes nothing")
}

func TestDamageIsFound(t *testing.T) {
	node := stored.Key(kindNode, lethe.Pseudonym{1})
	wide := stored.Row{ID: "a", Features: []float32{1, 2}}.Encode()
	for name, damage := range map[string]func(w swapstore.Writer) error{
		"no description":  func(w swapstore.Writer) error { w.Delete([]byte{kindMeta}); return nil },
		"cut description": func(w swapstore.Writer) error { w.Set([]byte{kindMeta}, []byte{version, 0}); return nil },
		"cut row":         func(w swapstore.Writer) error { w.Set(node, []byte{0, 0, 0, 9, 'x'}); return nil },
		"wrong count":     func(w swapstore.Writer) error { w.Set(node, wide); return nil },
		"lost end":        func(w swapstore.Writer) error { w.Delete(node); return nil },
		"odd key":         func(w swapstore.Writer) error { w.Set([]byte{kindEdge, 1}, nil); return nil },
	} {
		t.Run(name, func(t *testing.T) {
			graphs := newGraphs(t, 1)
			require.NoError(t, graphs.Create(t.Context(), pair(0, 1)))
			store, err := graphs.Get(0)
			require.NoError(t, err)
			require.NoError(t, store.Apply(damage))
			_, err = store.Read()
			require.ErrorIs(t, err, stored.ErrCorrupt)
		})
	}
}

// A lost row of a settled timestep is found by its assignment.
func TestALostRowIsFound(t *testing.T) {
	graphs, g := newGraphs(t, 1), pair(0, 1)
	g.Payments = nil
	require.NoError(t, graphs.Create(t.Context(), g))
	store, err := graphs.Get(0)
	require.NoError(t, err)
	_, err = store.Assign(g, []lethe.ShardID{0, 0})
	require.NoError(t, err)
	require.NoError(t, store.Apply(func(w swapstore.Writer) error {
		w.Delete(stored.Key(kindNode, lethe.Pseudonym{1}))
		return nil
	}))
	left, err := store.Read()
	require.NoError(t, err)
	_, err = store.ReadAssigned(left)
	require.ErrorIs(t, err, stored.ErrCorrupt)
}

func TestOnlyStoresOfTimestepsAreListed(t *testing.T) {
	files := vfs.NewMem()
	for _, name := range []string{FolderName(0), FolderName(1234567), "t12", "tools", "staging"} {
		require.NoError(t, files.MkdirAll(fmt.Sprint("data/", name), 0o700))
	}
	got, err := Folders(files, "data")
	require.NoError(t, err)
	require.ElementsMatch(t, []lethe.Timestep{0, 1234567}, got)
	got, err = Folders(files, "nowhere")
	require.NoError(t, err)
	require.Empty(t, got)
}
