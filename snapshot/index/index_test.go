package index

import (
	"bytes"
	"encoding/binary"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"lethe"
	"lethe/internal/keyfilter"
	"lethe/snapshot/stored"
)

// memory is a store.
type memory map[string][]byte

func (m memory) Get(key []byte) ([]byte, bool, error) {
	value, found := m[string(key)]
	return value, found, nil
}

func (m memory) Scan(prefix []byte, fn func(key, value []byte) error) error {
	return m.ScanFrom(prefix, prefix, fn)
}

func (m memory) ScanFrom(prefix, from []byte, fn func(key, value []byte) error) error {
	for _, key := range slices.Sorted(maps.Keys(m)) {
		if !bytes.HasPrefix([]byte(key), prefix) || key < string(from) {
			continue
		}
		if err := fn([]byte(key), m[key]); err != nil {
			return err
		}
	}
	return nil
}

// full returns a filter that takes nearly everything for known.
func full(rng *rand.Rand) *keyfilter.Filter {
	f := keyfilter.New(0)
	for range 3_000_000 {
		high := binary.BigEndian.AppendUint64(nil, rng.Uint64())
		f.Add(keyfilter.Key(binary.BigEndian.AppendUint64(high, rng.Uint64())))
	}
	return f
}

// What the index tells is exact, whatever the filters take for known, however much is learnt, and whatever came,
// changed and went since.
func TestWhatIsToldIsExact(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 9))
	for _, filter := range []*keyfilter.Filter{nil, full(rng)} {
		store := memory{}
		x := New(store)
		p := func() lethe.Pseudonym { return lethe.Pseudonym{byte(rng.IntN(12))} }
		for range 3000 {
			switch n := rng.IntN(100); {
			case n < 50:
				key, entry := Key(p()), Entry{Timestep: 1, Content: Content{byte(rng.IntN(9))}}
				x.Meet(key, entry.Encode())
				store[string(key)] = entry.Encode()
			case n < 75:
				delete(store, string(Key(p())))
			case n < 78:
				x = New(store)
				x.AtOnce = 3
			default:
				require.NoError(t, x.Learn())
			}
			if filter != nil {
				x.contents.seen, x.contents.repeated = filter, filter
			}
			check(t, x, store, p(), p())
		}
	}
}

// check asks who has which content beside two transactions that go.
func check(t *testing.T, x *Index, store memory, a, b lethe.Pseudonym) {
	t.Helper()
	gone := stored.Erasure{Removal: lethe.Removal{Nodes: map[lethe.Pseudonym]bool{a: true, b: true}}}
	want, asked := map[Content]bool{}, []Content{}
	for c := range byte(9) {
		asked = append(asked, Content{c})
		want[Content{c}] = false
	}
	for key, value := range store {
		p, entry := lethe.Pseudonym([]byte(key[1:])), must(Decode(value))
		require.True(t, x.MayKnow(p))
		require.True(t, x.MayHave(entry.Content))
		want[entry.Content] = want[entry.Content] || gone.Keeps(p)
	}
	got, err := x.Stay(asked, gone)
	require.NoError(t, err)
	require.Equal(t, want, got)
	if value, found := store[string(Key(a))]; found {
		x.Had(must(Decode(value)).Content, a)
	}
}

func must(e Entry, err error) Entry {
	if err != nil {
		panic(err)
	}
	return e
}

// Whoever is not known is told from memory once all is learnt, and not before.
func TestStrangersAreToldOnceAllIsLearnt(t *testing.T) {
	store := memory{}
	for i := range byte(5) {
		store[string(Key(lethe.Pseudonym{i}))] = Entry{Timestep: 1}.Encode()
	}
	x := New(store)
	x.AtOnce = 2
	stranger := lethe.Pseudonym{9}
	for range 3 {
		require.False(t, x.Learnt())
		require.True(t, x.MayKnow(stranger))
		require.NoError(t, x.Learn())
	}
	require.True(t, x.Learnt())
	require.False(t, x.MayKnow(stranger))
}

func TestEntriesComeBackWhole(t *testing.T) {
	want := Entry{Timestep: 7, Content: ContentOf(lethe.Secret{1}, []float32{1, 2})}
	got, known, err := Lookup(memory{string(Key(lethe.Pseudonym{1})): want.Encode()}.Get, lethe.Pseudonym{1})
	require.NoError(t, err)
	require.True(t, known)
	require.Equal(t, want, got)
	require.Len(t, want.Encode(), EntryBytes)
	require.NotEqual(t, want.Content, ContentOf(lethe.Secret{2}, []float32{1, 2}), "a keyed hash")
	_, err = Decode(want.Encode()[1:])
	require.ErrorIs(t, err, stored.ErrCorrupt)
}
