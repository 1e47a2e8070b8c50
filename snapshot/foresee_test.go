package snapshot

import (
	"fmt"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/stretchr/testify/require"

	"lethe"
)

// What becomes of transactions, and what is stored, does not depend on whether they were foreseen,
// nor with how many others: not of new ones, repeated, changed and erased ones, nor of those
// whose timestep or number of features is another.
func TestForeseenTransactionsFareAsOthers(t *testing.T) {
	run := func(together int) (verdicts []Verdict, stored map[string]string) {
		s, err := Open("store", Options{
			Config: Defaults(), Secret: lethe.Secret{3}, FS: vfs.NewMem(), TransactionPartitions: 1, LabelPartitions: 1,
		})
		require.NoError(t, err)
		defer func() { require.NoError(t, s.Close()) }()
		require.NoError(t, s.Marks().FixFeatureCount(2))
		require.NoError(t, s.Suppressed().Add(append(lethe.Transactions("t-3"), lethe.FeaturesOf("t-4", 1))))
		offset := int64(0)
		for round := range 4 {
			var list []lethe.Transaction
			for i := range 40 {
				list = append(list, lethe.Transaction{
					ID: lethe.TransactionID(fmt.Sprintf("t-%d", i%23)), Timestep: lethe.Timestep(1 + i%23/20 + round/3),
					Features: []float32{float32(i / (5 * (round + 1))), 7}, Subjects: []string{"Ann"}[:i%2],
				})
			}
			batch, err := s.Begin(Source{Transactions, "topic", 0})
			require.NoError(t, err)
			var placed []*Foreseen
			for i, tr := range list {
				if together > 0 && i%together == 0 {
					placed = placeAll(t, s, batch, list[i:min(i+together, len(list))])
				}
				var v Verdict
				if o := (Origin{Offset: offset}); together > 0 {
					v, err = placed[i%together].Take(batch, o)
				} else {
					v, err = batch.Transaction(tr, o)
				}
				require.NoError(t, err)
				verdicts = append(verdicts, v)
				offset++
			}
			require.NoError(t, batch.Commit(offset))
		}
		stored = make(map[string]string)
		require.NoError(t, s.staging.Scan(nil, func(key, value []byte) error {
			stored[string(key)] = string(value)
			return nil
		}))
		return verdicts, stored
	}
	verdicts, stored := run(0)
	outcomes := make(map[Outcome]int)
	for _, v := range verdicts {
		outcomes[v.Outcome]++
	}
	require.Len(t, outcomes, 4, "%v", outcomes)
	for _, together := range []int{1, 7, 100} {
		gotVerdicts, gotStored := run(together)
		require.Equal(t, verdicts, gotVerdicts, together)
		require.Equal(t, stored, gotStored, together)
	}
}

func placeAll(t *testing.T, s *Store, b *Batch, list []lethe.Transaction) (placed []*Foreseen) {
	t.Helper()
	hashing := s.Marks().NewRedactingHashing()
	for _, tr := range list {
		f := hashing.Foresee(tr)
		placed = append(placed, &f)
	}
	require.NoError(t, b.Place(placed))
	return placed
}

// The number of features is fixed once, by the owner where none is configured. Before, no transaction is accepted.
func TestTheNumberOfFeaturesIsFixedOnce(t *testing.T) {
	fs := vfs.NewMem()
	open := func() *Store {
		s, err := Open("snapshots", Options{
			Config: Defaults(), Secret: lethe.Secret{1}, FS: fs, TransactionPartitions: 1, LabelPartitions: 1,
		})
		require.NoError(t, err)
		return s
	}
	s := open()
	outcome := func(features ...float32) Outcome {
		b := begin(t, s, Transactions)
		v, err := b.Transaction(lethe.Transaction{ID: "t", Timestep: 1, Features: features}, Origin{})
		require.NoError(t, err)
		return v.Outcome
	}
	require.Equal(t, Refused, outcome(1, 2))
	require.NoError(t, s.Marks().FixFeatureCount(2))
	require.Equal(t, Accepted, outcome(1, 2))
	require.Equal(t, Refused, outcome(1))
	require.NoError(t, s.Close())
	s = open()
	defer s.Close()
	require.NoError(t, s.Marks().FixFeatureCount(3))
	require.Equal(t, 2, s.Marks().FeatureCount())
	require.Equal(t, Accepted, outcome(1, 2))
}

// A store that is opened again learns whom it has a few at a time, and takes none of them for a stranger meanwhile.
func TestWhoIsKnownIsLearntAgain(t *testing.T) {
	const steps = 25
	fs := vfs.NewMem()
	s := openMem(t, fs)
	fill(t, s, steps)
	require.NoError(t, s.Close())
	s = openMem(t, fs)
	LearnAtOnce(s, 10)
	for round := range 3 {
		strangers, learnt, err := Unknown(s)
		require.NoError(t, err)
		require.Zero(t, strangers)
		require.False(t, learnt, round)
		b := begin(t, s, Transactions)
		// One is looked for, and ten are learnt.
		v, err := b.Transaction(lethe.Transaction{
			ID: lethe.TransactionID(fmt.Sprint("t", round)), Timestep: lethe.Timestep(round), Features: []float32{1},
		}, Origin{Offset: int64(steps + round)})
		require.NoError(t, err)
		require.Equal(t, Duplicate, v.Outcome)
	}
	strangers, learnt, err := Unknown(s)
	require.NoError(t, err)
	require.Zero(t, strangers)
	require.True(t, learnt)
}
