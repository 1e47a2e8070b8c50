package snapshot

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/stretchr/testify/require"

	"lethe"
	"lethe/internal/swapstore"
	"lethe/snapshot/index"
)

// shared tells of each target whether a transaction beside them has its features.
func shared(t *testing.T, s *Store, targets ...lethe.Target) []bool {
	t.Helper()
	located, err := s.Locate(targets)
	require.NoError(t, err)
	out := make([]bool, len(located))
	for i, l := range located {
		out[i] = l.Shared
	}
	return out
}

func hasContent(t *testing.T, s *Store, features ...float32) bool {
	t.Helper()
	has, err := s.Marks().HasContents([]index.Content{index.ContentOf(s.staging.options.Secret, features)})
	require.NoError(t, err)
	return has[0]
}

// Whether another transaction has the same features is told of closed timesteps and open
// ones, after corrections, erasures and a restart, when nothing is learnt yet.
func TestTransactionsWithTheSameFeaturesAreFound(t *testing.T) {
	fs := vfs.NewMem()
	s := openMem(t, fs, 2)
	ids := lethe.Transactions
	take(t, s, 1, "a", 1, 2)
	take(t, s, 1, "b", 1, 2)
	take(t, s, 1, "c", 3, 4)
	take(t, s, 2, "d", 3, 4)
	require.NoError(t, CloseTimestep(t.Context(), s, 1))
	require.Equal(t, []bool{true}, shared(t, s, ids("a")...))
	require.Equal(t, []bool{false, false}, shared(t, s, ids("a", "b")...), "both go")
	require.Equal(t, []bool{true, false}, shared(t, s, ids("c", "nobody")...))
	require.Equal(t, []bool{true}, shared(t, s, lethe.FeaturesOf("d", 1)))
	require.Equal(t, Accepted, take(t, s, 2, "d", 5, 6))
	require.Equal(t, []bool{false}, shared(t, s, ids("c")...), "the other was corrected")

	require.NoError(t, s.Erase(t.Context(), ids("b")))
	require.Equal(t, []bool{false, false}, shared(t, s, ids("a", "b")...))
	take(t, s, 2, "e", 1, 2)
	require.Equal(t, []bool{true}, shared(t, s, ids("a")...), "one that came since")
	require.NoError(t, s.Close())
	s = openMem(t, fs, 2)
	require.Equal(t, []bool{true, false}, shared(t, s, ids("a", "c")...))
	require.NoError(t, s.Close())
}

// Once all is learnt, the index is not read for a content that nobody repeats, nor twice for one that somebody does,
// nor for one whose transaction was erased.
func TestTheIndexIsNotReadForWhatNobodyRepeats(t *testing.T) {
	s := openMem(t, vfs.NewMem(), 2)
	take(t, s, 0, "a", 1, 2)
	take(t, s, 0, "b", 3, 4)
	take(t, s, 0, "c", 3, 4)
	take(t, s, 0, "d", 5, 6)
	bad := index.Key(lethe.Pseudonym{})
	damage := func(w swapstore.Writer) error { w.Set(bad, []byte("cut")); return nil }
	require.NoError(t, s.staging.Apply(damage))
	require.Equal(t, []bool{false, false}, shared(t, s, lethe.Transactions("a", "d")...))
	_, err := s.Locate(lethe.Transactions("b"))
	require.ErrorIs(t, err, ErrCorrupt, "else this test sees no reading")

	require.NoError(t, s.staging.Apply(func(w swapstore.Writer) error { w.Delete(bad); return nil }))
	require.Equal(t, []bool{true, false}, shared(t, s, lethe.Transactions("b", "d")...))
	require.NoError(t, s.staging.Apply(damage))
	require.Equal(t, []bool{true}, shared(t, s, lethe.Transactions("b")...))
	require.NoError(t, s.Erase(t.Context(), lethe.Transactions("a")))
	require.False(t, hasContent(t, s, 1, 2))
	require.False(t, hasContent(t, s, 7, 8), "nobody ever had it")
	require.True(t, hasContent(t, s, 3, 4))
	require.NoError(t, s.Close())
}

// alikeModel is what a store is to tell of contents: it counts them.
type alikeModel struct {
	rows map[lethe.TransactionID][2]float32
	// counts have how many have a content, 0 of one that may be in files; zeroed has 0 for the first feature for good.
	counts map[[2]float32]int
	zeroed map[lethe.TransactionID]bool
	erased map[lethe.TransactionID]bool
}

func (m *alikeModel) lose(row [2]float32, keep bool) {
	if m.counts[row]--; m.counts[row] == 0 && !keep {
		delete(m.counts, row)
	}
}

func (m *alikeModel) take(t *testing.T, s *Store, id lethe.TransactionID, row [2]float32) {
	outcome := take(t, s, 0, id, row[:]...)
	if m.zeroed[id] {
		row[0] = 0
	}
	before, known := m.rows[id]
	switch {
	case m.erased[id]:
		require.Equal(t, Suppressed, outcome)
		return
	case known && before == row:
		require.Equal(t, Duplicate, outcome)
		return
	case known:
		m.lose(before, true)
	}
	require.Equal(t, Accepted, outcome)
	m.rows[id] = row
	m.counts[row]++
}

func (m *alikeModel) erase(t *testing.T, s *Store, targets []lethe.Target) {
	require.NoError(t, s.Erase(t.Context(), targets))
	for _, target := range targets {
		id := target.Transaction
		before, known := m.rows[id]
		if target.Kind == lethe.TransactionTarget {
			m.erased[id] = true
			delete(m.rows, id)
		} else if m.zeroed[id] = true; known && before[0] != 0 {
			after := [2]float32{0, before[1]}
			m.rows[id] = after
			m.counts[after]++
		} else {
			continue
		}
		if known {
			m.lose(before, false)
		}
	}
}

// check compares what the store tells of some targets, and of all contents.
func (m *alikeModel) check(t *testing.T, s *Store, targets []lethe.Target) {
	want := make([]bool, len(targets))
	for i, target := range targets {
		row, known := m.rows[target.Transaction]
		if target.Kind == lethe.FeaturesTarget {
			known = known && row[0] != 0
		}
		for id, other := range m.rows {
			goes := slices.ContainsFunc(targets, func(t lethe.Target) bool { return t.Transaction == id })
			want[i] = want[i] || known && !goes && other == row
		}
	}
	require.Equal(t, want, shared(t, s, targets...))
	for a := range 3 {
		for b := range 6 {
			row := [2]float32{float32(a), float32(b)}
			_, had := m.counts[row]
			require.Equal(t, had, hasContent(t, s, row[:]...), "%v: %v", row, m.rows)
		}
	}
}

// What is told of contents is exact, whatever became of transactions and whenever it is asked.
func TestWhatIsToldOfContentsIsExact(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 9))
	fs := vfs.NewMem()
	s := openMem(t, fs, 2)
	m := &alikeModel{
		map[lethe.TransactionID][2]float32{}, map[[2]float32]int{},
		map[lethe.TransactionID]bool{}, map[lethe.TransactionID]bool{},
	}
	first := 0 // of the transactions that are drawn: erased ones never come back
	id := func() lethe.TransactionID { return lethe.TransactionID(fmt.Sprint(first + rng.IntN(10))) }
	row := func() [2]float32 { return [2]float32{float32(rng.IntN(3)), float32(rng.IntN(6))} }
	some := func() (out []lethe.Target) {
		for n := 1 + rng.IntN(4); len(out) < n; {
			out = append(out, [][]lethe.Target{lethe.Transactions(id()), {lethe.FeaturesOf(id(), 0)}}[rng.IntN(2)]...)
		}
		return lethe.Distinct(out)
	}
	for range 1000 {
		switch n := rng.IntN(100); {
		case n < 70:
			m.take(t, s, id(), row())
		case n < 90:
			m.erase(t, s, some()[:1])
			first += rng.IntN(2)
		case n < 95:
			require.NoError(t, s.Close())
			s = openMem(t, fs, 2)
			LearnAtOnce(s, 3)
		default:
			scrub, err := s.BeginScrub()
			require.NoError(t, err)
			maps.DeleteFunc(m.counts, func(_ [2]float32, n int) bool { return n == 0 })
			m.take(t, s, id(), row())
			require.NoError(t, scrub.Fill(t.Context()))
			m.take(t, s, id(), row())
			require.NoError(t, scrub.Switch())
			require.NoError(t, scrub.Clean())
		}
		if rng.IntN(3) == 0 {
			m.check(t, s, some())
		}
	}
	require.NoError(t, s.Close())
}
