package snapshot

import (
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/stretchr/testify/require"

	"lethe"
	"lethe/internal/swapstore"
)

// shared tells of each transaction whether one beside them has its features.
func shared(t *testing.T, s *Store, ids ...lethe.TransactionID) []bool {
	t.Helper()
	located, err := s.Locate(lethe.Transactions(ids...))
	require.NoError(t, err)
	out := make([]bool, len(located))
	for i, l := range located {
		out[i] = l.Shared
	}
	return out
}

// Whether another transaction has the same features is looked up, of closed
// timesteps and open ones, after corrections, erasures and a restart.
func TestTransactionsWithTheSameFeaturesAreCounted(t *testing.T) {
	fs := vfs.NewMem()
	s := openMem(t, fs, 1, 2)
	offset := int64(0)
	take := func(id lethe.TransactionID, at lethe.Timestep, features ...float32) {
		t.Helper()
		b, err := s.Begin(Source{Transactions, "transactions", 0})
		require.NoError(t, err)
		v, err := b.Transaction(lethe.Transaction{ID: id, Timestep: at, Features: features}, Origin{Offset: offset})
		require.NoError(t, err)
		require.Equal(t, Accepted, v.Outcome)
		offset++
		require.NoError(t, b.Commit(offset))
	}
	take("a", 1, 1, 2)
	take("b", 1, 1, 2)
	take("c", 1, 3, 4)
	take("d", 2, 3, 4)
	require.NoError(t, CloseTimestep(t.Context(), s, 1))
	require.Equal(t, []bool{true}, shared(t, s, "a"))
	require.Equal(t, []bool{false, false}, shared(t, s, "a", "b"), "both go")
	require.Equal(t, []bool{true, false}, shared(t, s, "c", "nobody"))
	take("d", 2, 5, 6)
	require.Equal(t, []bool{false}, shared(t, s, "c"), "the other was corrected")

	require.NoError(t, s.Erase(t.Context(), lethe.Transactions("b")))
	require.Equal(t, []bool{false, false}, shared(t, s, "a", "b"))

	// A store of an earlier version has no counts.
	take("e", 2, 1, 2)
	require.NoError(t, s.staging.Rewrite(t.Context(), func(src swapstore.Reader, dst swapstore.Writer) error {
		return src.Scan(nil, func(key, value []byte) error {
			if key[0] == kindAlike || key[0] == kindCounted {
				return nil
			}
			return dst.Set(key, value)
		})
	}))
	require.NoError(t, s.Close())
	s = openMem(t, fs, 1, 2)
	require.Equal(t, []bool{true, false}, shared(t, s, "a", "c"))
	require.NoError(t, s.Close())
}

// While the number of features is not known, candidates are looked through.
func TestCandidatesWithTheSameFeaturesAreFound(t *testing.T) {
	s := openMem(t, vfs.NewMem(), 1, 0)
	for offset, id := range []lethe.TransactionID{"a", "b", "c"} {
		b, err := s.Begin(Source{Transactions, "transactions", 0})
		require.NoError(t, err)
		features := []float32{1, float32(offset / 2)}
		_, err = b.Transaction(lethe.Transaction{ID: id, Timestep: 1, Features: features}, Origin{Offset: int64(offset)})
		require.NoError(t, err)
		require.NoError(t, b.Commit(int64(offset)+1))
	}
	require.Equal(t, []bool{true}, shared(t, s, "a"))
	require.Equal(t, []bool{false, false}, shared(t, s, "a", "b"), "both go")
	require.Equal(t, []bool{false}, shared(t, s, "c"))
	require.NoError(t, s.Erase(t.Context(), lethe.Transactions("a", "c")))
	for features, want := range map[[2]float32]bool{{1, 0}: true, {1, 1}: false} {
		has, err := s.Marks().HasContent(ContentOf(s.staging.options.Secret, features[:]))
		require.NoError(t, err)
		require.Equal(t, want, has)
	}
}
