package openrows_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"lethe"
	"lethe/internal/swapstore"
	"lethe/snapshot/openrows"
)

// bench is a store with the rows of open timesteps, and what it holds.
type bench struct {
	require.TestingT
	fs    vfs.FS
	store *swapstore.Store
	rows  *openrows.Rows
	want  map[lethe.Timestep]map[lethe.Pseudonym]string
}

func newBench(t require.TestingT, fs vfs.FS, fewestBytes int) *bench {
	b := &bench{TestingT: t, fs: fs, want: make(map[lethe.Timestep]map[lethe.Pseudonym]string)}
	require.NoError(t, b.open(fewestBytes))
	return b
}

func (b *bench) open(fewestBytes int) (err error) {
	b.store, err = swapstore.Open(b.fs, "store", swapstore.Format{Kind: "test", Version: 1})
	if err == nil {
		b.rows, err = openrows.Open(b.fs, b.store, fewestBytes)
	}
	return err
}

func pseudonym(n int) (p lethe.Pseudonym) {
	binary.BigEndian.PutUint32(p[:], uint32(n))
	return p
}

func keyOf(t lethe.Timestep, p lethe.Pseudonym) []byte {
	return append(binary.BigEndian.AppendUint64([]byte{openrows.Kind}, uint64(t)), p[:]...)
}

// take puts rows of a timestep as those that come together do: in files those that are new, if there are enough.
func (b *bench) take(t lethe.Timestep, rows map[lethe.Pseudonym]string) {
	known := b.want[t]
	if known == nil {
		known = make(map[lethe.Pseudonym]string)
		b.want[t] = known
	}
	batch, ordered := b.rows.NewBatch(), slices.SortedFunc(maps.Keys(rows), lethe.Pseudonym.Compare)
	fresh := func(p lethe.Pseudonym) bool { return known[p] == "" }
	for _, p := range ordered {
		if fresh(p) {
			batch.Expect(t, len(rows[p]))
		}
	}
	require.NoError(b, b.store.Apply(func(w swapstore.Writer) error {
		for _, p := range ordered {
			half := len(rows[p]) / 2
			if fresh(p) && batch.Put(t, p, []byte(rows[p][:half]), []byte(rows[p][half:])) {
				continue
			}
			w.Set(keyOf(t, p), []byte(rows[p]))
		}
		batch.Describe(w)
		return batch.Write()
	}))
	maps.Copy(known, rows)
}

// check compares what is read with what was taken.
func (b *bench) check() {
	for t, want := range b.want {
		got, last := make(map[lethe.Pseudonym]string), lethe.Pseudonym{}
		require.NoError(b, b.rows.Scan(t, func(p lethe.Pseudonym, row []byte) error {
			require.Positive(b, p.Compare(last), "rows come in the order of their pseudonyms, once each")
			got[p], last = string(row), p
			return nil
		}))
		require.Equal(b, want, got, "timestep %d", t)
		for n := 1; n <= 40; n++ {
			row, found, err := b.rows.Get(t, pseudonym(n))
			require.NoError(b, err)
			require.Equal(b, want[pseudonym(n)] != "", found)
			require.Equal(b, want[pseudonym(n)], string(row))
		}
	}
}

// files counts what lies in the folder of files.
func (b *bench) files() int {
	names, err := b.fs.List("store/rows")
	require.NoError(b, err)
	return len(names)
}

// However rows came, one by one or many at a time, changed or not, what is read is the last of each transaction; so it
// is after some were taken into the store, and in a store that is opened again.
func TestRowsAreReadWhereverTheyAre(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		fewest := rapid.IntRange(1, 300).Draw(rt, "fewest")
		b := newBench(rt, vfs.NewMem(), fewest)
		for i := range rapid.IntRange(1, 8).Draw(rt, "batches") {
			rows := make(map[lethe.Pseudonym]string)
			for _, n := range rapid.SliceOfN(rapid.IntRange(1, 40), 1, 20).Draw(rt, "who") {
				rows[pseudonym(n)] = fmt.Sprintf("row %d of batch %d", n, i)
			}
			step := lethe.Timestep(rapid.IntRange(1, 2).Draw(rt, "timestep"))
			b.take(step, rows)
			switch rapid.IntRange(0, 3).Draw(rt, "then") {
			case 0:
				who := []lethe.Pseudonym{pseudonym(rapid.IntRange(1, 40).Draw(rt, "taken in"))}
				require.NoError(rt, b.rows.TakeIn(map[lethe.Timestep][]lethe.Pseudonym{step: who}))
			case 1:
				require.NoError(rt, b.store.Close())
				require.NoError(rt, b.open(fewest))
			}
			b.check()
		}
		require.NoError(rt, b.store.Close())
	})
}

// Who is taken in is in the store and in no file, with those of the same file; other files stay.
func TestWhoIsTakenInIsInNoFile(t *testing.T) {
	b := newBench(t, vfs.NewMem(), 1)
	b.take(1, map[lethe.Pseudonym]string{pseudonym(1): "one", pseudonym(2): "two"})
	b.take(1, map[lethe.Pseudonym]string{pseudonym(3): "three"})
	b.take(1, map[lethe.Pseudonym]string{pseudonym(2): "two, corrected"})
	b.take(2, map[lethe.Pseudonym]string{pseudonym(1): "one of another timestep"})
	require.Equal(t, 3, b.files())
	require.NoError(t, b.rows.TakeIn(map[lethe.Timestep][]lethe.Pseudonym{1: {pseudonym(1), pseudonym(9)}}))
	b.check()
	require.Equal(t, 2, b.files())
	for p, want := range map[lethe.Pseudonym]string{pseudonym(1): "one", pseudonym(2): "two, corrected"} {
		row, found, err := b.store.Get(keyOf(1, p))
		require.NoError(t, err)
		require.True(t, found)
		require.Equal(t, want, string(row))
	}
	_, found, err := b.store.Get(keyOf(1, pseudonym(3)))
	require.NoError(t, err)
	require.False(t, found)
	require.NoError(t, b.store.Close())
}

// A file with a row that is outdated is taken in with the row that is not, whoever is asked for.
func TestOutdatedRowsGoWithTheirFiles(t *testing.T) {
	b := newBench(t, vfs.NewMem(), 1)
	b.take(1, map[lethe.Pseudonym]string{pseudonym(1): "one", pseudonym(2): "two"})
	b.take(1, map[lethe.Pseudonym]string{pseudonym(3): "three"})
	has := func() bool {
		is, err := openrows.HasOutdated(b.store)
		require.NoError(t, err)
		return is
	}
	require.False(t, has())
	b.take(1, map[lethe.Pseudonym]string{pseudonym(2): "two, corrected"})
	require.NoError(t, b.store.Apply(func(w swapstore.Writer) error {
		w.Set(openrows.OutdatedKey(1, pseudonym(2)), nil)
		return nil
	}))
	require.True(t, has())
	require.NoError(t, b.rows.TakeIn(nil))
	b.check()
	require.False(t, has())
	require.Equal(t, 1, b.files())
	require.NoError(t, b.store.Close())
}

// Many are looked for as few are.
func TestManyAreTakenIn(t *testing.T) {
	b := newBench(t, vfs.NewMem(), 1)
	all := make(map[lethe.Pseudonym]string)
	var who []lethe.Pseudonym
	for n := 1; n <= 200; n++ {
		all[pseudonym(n)] = fmt.Sprint(n)
		who = append(who, pseudonym(n+199))
	}
	b.take(1, all)
	b.take(1, map[lethe.Pseudonym]string{pseudonym(1000): "another one"})
	require.NoError(t, b.rows.TakeIn(map[lethe.Timestep][]lethe.Pseudonym{1: who[1:]}))
	require.Equal(t, 2, b.files())
	require.NoError(t, b.rows.TakeIn(map[lethe.Timestep][]lethe.Pseudonym{1: who}))
	require.Equal(t, 1, b.files())
	b.check()
	require.NoError(t, b.store.Close())
}

// What is too little or too long for a file is left to the store.
func TestFewAndLongRowsAreNotPutIntoFiles(t *testing.T) {
	b := newBench(t, vfs.NewMem(), 1000)
	b.take(1, map[lethe.Pseudonym]string{pseudonym(1): "one", pseudonym(2): "two"})
	require.Zero(t, b.files())
	long := string(bytes.Repeat([]byte{'x'}, 64<<10+1))
	b.take(1, map[lethe.Pseudonym]string{pseudonym(3): long})
	require.Zero(t, b.files())
	b.take(1, map[lethe.Pseudonym]string{pseudonym(4): long[:1000], pseudonym(5): long})
	require.Equal(t, 1, b.files())
	_, found, err := b.store.Get(keyOf(1, pseudonym(5)))
	require.NoError(t, err)
	require.True(t, found)
	b.check()
	require.NoError(t, b.store.Close())
}
