package snapshot

import (
	"fmt"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/stretchr/testify/require"

	"lethe"
)

// A transaction that was foreseen and placed is taken without memory of its own: of hundreds of thousands a second, all
// that each takes is for the garbage collector to find.
func TestTakingAPlacedTransactionTakesNoMemory(t *testing.T) {
	s, err := Open("store", Options{
		Config: Defaults(), Secret: lethe.Secret{3}, FS: vfs.NewMem(), TransactionPartitions: 1, LabelPartitions: 1,
	})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	require.NoError(t, s.Marks().FixFeatureCount(1))
	batch, err := s.Begin(Source{Transactions, "topic", 0})
	require.NoError(t, err)
	const count = 1000
	list, placed := make([]Foreseen, count+1), make([]*Foreseen, count+1)
	hashing := s.Marks().NewHashing()
	for i := range list {
		id := lethe.TransactionID(fmt.Sprint(i))
		list[i] = hashing.Foresee(lethe.Transaction{ID: id, Timestep: 1, Features: []float32{float32(i)}})
		placed[i] = &list[i]
	}
	require.NoError(t, batch.Place(placed))
	next := 0
	require.Zero(t, testing.AllocsPerRun(count, func() {
		v, err := list[next].Take(batch, Origin{Offset: int64(next)})
		if err != nil || v.Outcome != Accepted {
			t.Fatal(v.Outcome, err)
		}
		next++
	}))
}
