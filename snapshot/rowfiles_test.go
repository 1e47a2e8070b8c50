package snapshot

import (
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/stretchr/testify/require"

	"lethe"
	"lethe/snapshot/index"
)

// filed is a store whose rows of open timesteps are in files, as far as they may be.
type filed struct {
	*testing.T
	fs     vfs.FS
	store  *Store
	offset int64
}

func newFiled(t *testing.T) *filed {
	t.Helper()
	return newFiledOn(t, vfs.NewMem())
}

func newFiledOn(t *testing.T, fs vfs.FS) *filed {
	t.Helper()
	f := &filed{T: t, fs: fs}
	o := optionsOf(f.fs)
	o.RowFileBytes, o.FeatureCount = 1, 2
	var err error
	f.store, err = Open("data", o)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, f.store.Close()) })
	return f
}

// take takes transactions that come together, whose first feature is given.
func (f *filed) take(at lethe.Timestep, first float32, ids ...lethe.TransactionID) {
	f.Helper()
	b, err := f.store.Begin(Source{Transactions, "transactions", 0})
	require.NoError(f, err)
	foreseen, hashing := make([]*Foreseen, len(ids)), f.store.Marks().NewHashing()
	for i, id := range ids {
		one := hashing.Foresee(lethe.Transaction{ID: id, Timestep: at, Features: []float32{first, float32(i)}})
		foreseen[i] = &one
	}
	require.NoError(f, b.Place(foreseen))
	for _, one := range foreseen {
		v, err := one.Take(b, Origin{Offset: f.offset})
		require.NoError(f, err)
		require.Equal(f, Accepted, v.Outcome)
		f.offset++
	}
	require.NoError(f, b.Commit(f.offset))
}

// files counts the files, and the entries of rows in the store.
func (f *filed) files() (files, entries int) {
	f.Helper()
	names, err := f.fs.List("data/staging/rows")
	require.NoError(f, err)
	require.NoError(f, f.store.staging.Scan([]byte{kindRow}, func(_, _ []byte) error {
		entries++
		return nil
	}))
	return len(names), entries
}

func (f *filed) rowOf(id lethe.TransactionID) []float32 {
	f.Helper()
	located, err := f.store.Locate(lethe.Transactions(id))
	require.NoError(f, err)
	require.NotNil(f, located[0].Row)
	return located[0].Row
}

// Transactions that came together are in one file. One that is corrected is in the store too, and counts once.
func TestTransactionsThatComeTogetherAreInAFile(t *testing.T) {
	f := newFiled(t)
	f.take(1, 5, "a", "b", "c")
	files, entries := f.files()
	require.Equal(t, []int{1, 0}, []int{files, entries})
	require.Equal(t, []float32{5, 1}, f.rowOf("b"))
	f.take(1, 6, "d", "b")
	files, entries = f.files()
	require.Equal(t, []int{2, 1}, []int{files, entries})
	require.Equal(t, []float32{6, 1}, f.rowOf("b"))
	require.Equal(t, []float32{6, 0}, f.rowOf("d"))
	require.Equal(t, 4, f.store.Timesteps()[0].Nodes)
	require.NoError(t, f.store.CheckStaging())
	f.take(2, 7, "e")
	require.NoError(t, CloseTimestep(t.Context(), f.store, 1))
	content, err := f.store.Load(1)
	require.NoError(t, err)
	require.Len(t, content.Snapshot.Nodes, 4)
	files, entries = f.files()
	require.Equal(t, []int{1, 0}, []int{files, entries})
}

// Late transactions of a closed timestep are in no file: they are erased by their keys, as nothing says where they are.
func TestLateTransactionsAreInNoFile(t *testing.T) {
	f := newFiled(t)
	f.take(1, 5, "a", "b")
	f.take(2, 5, "c")
	require.NoError(t, CloseTimestep(t.Context(), f.store, 1))
	f.take(1, 6, "late", "later")
	files, entries := f.files()
	require.Equal(t, []int{1, 2}, []int{files, entries})
}

// The file of a timestep that has closed is there until that is durable. An erasure does not leave it: it may hold what
// goes.
func TestAnErasureLeavesNoFileOfAClosedTimestep(t *testing.T) {
	f := newFiled(t)
	f.take(1, 5, "a", "b")
	f.take(2, 5, "c")
	c, err := f.store.BeginClosing(1)
	require.NoError(t, err)
	require.NoError(t, c.Finish(t.Context()))
	files, _ := f.files()
	require.Equal(t, 2, files)
	require.NoError(t, f.store.Erase(t.Context(), lethe.Transactions("a")))
	files, _ = f.files()
	require.Equal(t, 1, files)
	require.NoError(t, c.Sync())
}

// What a transaction was before it was corrected is in a file of rows, though staging was written anew: somebody had
// these features. Once another one is erased that had them too it is in no file.
func TestWhatWasCorrectedIsKnownAsLongAsAFileHasIt(t *testing.T) {
	f := newFiled(t)
	f.take(1, 5, "a")
	f.take(1, 5, "b")
	f.take(1, 6, "a")
	has := func(first float32) bool {
		is, err := f.store.Marks().HasContents([]index.Content{
			index.ContentOf(f.store.staging.options.Secret, []float32{first, 0}),
		})
		require.NoError(t, err)
		return is[0]
	}
	require.NoError(t, f.store.Erase(t.Context(), lethe.Transactions("nobody")))
	files, _ := f.files()
	require.Equal(t, 1, files)

	f.take(1, 7, "c")
	f.take(1, 8, "c")
	require.NoError(t, ScrubAtOnce(t.Context(), f.store))
	require.True(t, has(7))
	require.NoError(t, f.store.Erase(t.Context(), lethe.Transactions("nobody")))
	require.NoError(t, ScrubAtOnce(t.Context(), f.store))
	require.False(t, has(7))
	require.True(t, has(8))
}
