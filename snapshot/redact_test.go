package snapshot

import (
	"context"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/stretchr/testify/require"

	"lethe"
	"lethe/internal/floatbytes"
	"lethe/snapshot/index"
)

// redactedRows are those that the store has of the transactions of two timesteps, closed or
// open.
func redactedRows(t *testing.T, s *Store, steps ...lethe.Timestep) (out [][]float32) {
	t.Helper()
	for _, at := range steps {
		content, err := s.Load(at)
		require.NoError(t, err)
		for i := range content.Snapshot.Nodes {
			out = append(out, content.Snapshot.Row(i))
		}
	}
	return out
}

func take(t *testing.T, s *Store, at lethe.Timestep, id lethe.TransactionID, row ...float32) Outcome {
	t.Helper()
	b := begin(t, s, Transactions)
	v, err := b.Transaction(lethe.Transaction{ID: id, Timestep: at, Features: row}, Origin{Offset: b.nextOffset})
	require.NoError(t, err)
	require.NoError(t, b.Commit(b.nextOffset))
	return v.Outcome
}

// Features that are erased are 0 in whatever comes of their transaction later: in a first
// copy, in the same once more, and in a correction, until they are lifted, and over a start.
func TestErasedFeaturesAreZeroInLateCopies(t *testing.T) {
	disk := vfs.NewMem()
	s := openMem(t, disk, 3)
	require.Equal(t, Accepted, take(t, s, 0, "a", 1, 2, 3))
	b := begin(t, s, Transactions)
	end(t, b, 0)
	require.NoError(t, b.Commit(b.nextOffset))
	require.NoError(t, CloseTimestep(context.Background(), s, 0))
	targets := []lethe.Target{lethe.FeaturesOf("a", 1), lethe.FeaturesOf("b")}
	require.NoError(t, s.Erase(context.Background(), targets))
	require.Equal(t, [][]float32{{1, 0, 3}}, redactedRows(t, s, 0))
	require.NoError(t, s.Close())

	s = openMem(t, disk, 3)
	require.Equal(t, Duplicate, take(t, s, 0, "a", 1, 2, 3), "the same once more")
	require.Equal(t, Duplicate, take(t, s, 0, "a", 1, 7, 3), "another value of what is erased")
	require.Empty(t, s.Waiting())
	require.Equal(t, Accepted, take(t, s, 0, "a", 4, 5, 6), "a correction")
	require.Equal(t, Accepted, take(t, s, 0, "b", 7, 8, 9), "a first copy")
	require.Equal(t, Accepted, take(t, s, 0, "c", 7, 8, 9))
	_, err := s.ReopenTimestep(context.Background(), 0, oneShard)
	require.NoError(t, err)
	require.ElementsMatch(t, [][]float32{{4, 0, 6}, {0, 0, 0}, {7, 8, 9}}, redactedRows(t, s, 0))

	require.NoError(t, s.Suppressed().Lift([]lethe.Digest{s.staging.options.Secret.Suppressed(targets[0])}))
	require.Equal(t, Accepted, take(t, s, 0, "a", 4, 5, 6))
	_, err = s.ReopenTimestep(context.Background(), 0, oneShard)
	require.NoError(t, err)
	require.ElementsMatch(t, [][]float32{{4, 5, 6}, {0, 0, 0}, {7, 8, 9}}, redactedRows(t, s, 0))
	require.NoError(t, s.Close())
}

// Nothing that is erased of a row is left in the files, the row that stays is that of a store
// which had 0 from the beginning, and a second erasure changes nothing.
func TestNoErasedFeatureIsLeft(t *testing.T) {
	disk := vfs.NewMem()
	s, _ := scanStore(t, "data", disk, 20)
	wanted := make(map[string][]byte)
	var targets []lethe.Target
	for step := lethe.Timestep(1); step <= 3; step++ {
		targets = append(targets, lethe.FeaturesOf(scanID(step, 3), 0, 2, scanFeatures+5))
		wanted["features"+string('0'+rune(step))] = floatbytes.Append(nil, scanRow(step, 3))
	}
	before, _ := search(t, disk, "data", wanted)
	require.GreaterOrEqual(t, len(before), 3, "the search must find what is there")
	contents := make([]index.Content, 3)
	for i := range contents {
		contents[i] = index.ContentOf(s.staging.options.Secret, scanRow(lethe.Timestep(i+1), 3))
	}
	located, err := s.Locate(targets)
	require.NoError(t, err)
	for i, l := range located {
		require.True(t, l.Known, "%d", i)
		require.Equal(t, lethe.Timestep(i+1), l.Timestep)
	}
	want, err := s.Load(1)
	require.NoError(t, err)

	for range 2 {
		require.NoError(t, s.Erase(context.Background(), targets))
		require.NoError(t, ScrubAtOnce(context.Background(), s))
		left, _ := search(t, disk, "data", wanted)
		require.Empty(t, left)
		got, err := s.Load(1)
		require.NoError(t, err)
		node, _ := got.Snapshot.Find(s.staging.options.Secret.Pseudonym(scanID(1, 3)))
		zeroed, _ := lethe.Columns{0, 2}.Zeroed(want.Snapshot.Row(node))
		require.Equal(t, zeroed, got.Snapshot.Row(node))
		require.Equal(t, want.Snapshot.Revision+1, got.Snapshot.Revision)
		require.Equal(t, want.Snapshot.Removed(RemovalOf(located)).Features, got.Snapshot.Features)
		has, err := s.Marks().HasContents(contents)
		require.NoError(t, err)
		require.Equal(t, make([]bool, len(contents)), has)
		again, err := s.Locate(targets)
		require.NoError(t, err)
		for _, l := range again {
			require.False(t, l.Known)
			require.True(t, l.Suppressed)
		}
	}
	require.NoError(t, s.Close())
}
