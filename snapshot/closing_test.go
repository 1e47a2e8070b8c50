package snapshot

import (
	"fmt"
	"sync"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/stretchr/testify/require"

	"lethe"
)

// overTimestep1 has many transactions of timestep 1, which is over.
func overTimestep1(t *testing.T, fs vfs.FS) *Store {
	t.Helper()
	s, err := Open("data", optionsOf(fs))
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	b := begin(t, s, Transactions)
	for i := range 300 {
		_, err := b.Transaction(lethe.Transaction{
			ID: lethe.TransactionID(fmt.Sprintf("a%d", i)), Timestep: 1, Features: []float32{float32(i)},
		}, Origin{Offset: b.nextOffset})
		require.NoError(t, err)
	}
	for i := range 10 {
		_, err := b.Payment(lethe.Payment{
			Source: lethe.TransactionID(fmt.Sprintf("a%d", i)), Target: "a100", Timestep: 1,
		}, Origin{Offset: b.nextOffset})
		require.NoError(t, err)
	}
	end(t, b, 1)
	require.NoError(t, b.Commit(b.nextOffset))
	return s
}

// While the graph of a timestep is made in another goroutine, records of others and labels are taken; then it is
// what it would be if it was made at once.
func TestOthersAreTakenWhileATimestepCloses(t *testing.T) {
	ctx := t.Context()
	atOnce := overTimestep1(t, vfs.NewMem())
	require.NoError(t, CloseTimestep(ctx, atOnce, 1))
	want, err := atOnce.Load(1)
	require.NoError(t, err)

	s := overTimestep1(t, vfs.NewMem())
	c, err := s.BeginClosing(1)
	require.NoError(t, err)
	var making sync.WaitGroup
	making.Go(func() { c.Make(ctx) })
	for i := range 50 {
		require.Equal(t, Accepted, take(t, s, 2, lethe.TransactionID(fmt.Sprintf("b%d", i)), float32(i)))
		b := begin(t, s, Labels)
		_, err := b.Label(lethe.LabelRecord{ID: "a7", Timestep: 1, Label: lethe.Illicit}, Origin{Offset: b.nextOffset})
		require.NoError(t, err)
		require.NoError(t, b.Commit(b.nextOffset))
	}
	require.NoError(t, c.Finish(ctx))
	making.Wait()
	got, err := s.Load(1)
	require.NoError(t, err)
	require.Equal(t, want.Snapshot, got.Snapshot)
	require.Equal(t, 1, got.Info.Labels, "the label that came meanwhile waits")
	require.Equal(t, 50, s.Timesteps()[1].Nodes)
	require.NoError(t, c.Finish(ctx), "it is finished once")
	require.NoError(t, s.staging.scanAt(kindRow, 1, func(staged) error {
		t.Error("a row is left in staging")
		return nil
	}))
}

// While a timestep closes, a late record may begin an earlier one. A standby closes the timestep where the journal says
// so, which is behind that record: its store is the same.
func TestClosing_AnEarlierTimestepBegins_MeanwhileOrBefore_IsTheSame(t *testing.T) {
	ctx := t.Context()
	play := func(before bool) ([]Info, *lethe.Snapshot) {
		o := optionsOf(vfs.NewMem())
		o.Late, o.ReopenTimesteps = Reopen, AnyTimestep
		s, err := Open("data", o)
		require.NoError(t, err)
		defer func() { require.NoError(t, s.Close()) }()
		require.Equal(t, Accepted, take(t, s, 2, "a", 1))
		b := begin(t, s, Transactions)
		end(t, b, 2)
		require.NoError(t, b.Commit(b.nextOffset))
		early := func() { require.Equal(t, Accepted, take(t, s, 1, "b", 2)) }
		if before {
			early()
		}
		c, err := s.BeginClosing(2)
		require.NoError(t, err)
		if !before {
			early()
		}
		require.NoError(t, c.Finish(ctx))
		got, err := s.Load(2)
		require.NoError(t, err)
		return s.Timesteps(), got.Snapshot
	}
	infos, graph := play(false)
	standbys, same := play(true)
	require.Equal(t, infos, standbys)
	require.Equal(t, graph, same)
}

// An erasure finishes what closes before it: the transaction is in neither.
func TestAnErasureFinishesWhatCloses(t *testing.T) {
	s := overTimestep1(t, vfs.NewMem())
	c, err := s.BeginClosing(1)
	require.NoError(t, err)
	c.Make(t.Context())
	require.NoError(t, s.Erase(t.Context(), lethe.Transactions("a5")))
	require.NoError(t, c.Finish(t.Context()))
	got, err := s.Load(1)
	require.NoError(t, err)
	require.Len(t, got.Snapshot.Nodes, 299)
	_, found := got.Snapshot.Find(s.staging.options.Secret.Pseudonym("a5"))
	require.False(t, found)
}

// A store that is closed meanwhile opens as if the timestep had not begun to close.
func TestAStoreIsClosedWhileATimestepCloses(t *testing.T) {
	for _, made := range []bool{false, true} {
		fs := vfs.NewMem()
		s := overTimestep1(t, fs)
		c, err := s.BeginClosing(1)
		require.NoError(t, err)
		if made {
			c.Make(t.Context())
		}
		require.NoError(t, s.Close())
		s, err = Open("data", optionsOf(fs))
		require.NoError(t, err)
		require.Equal(t, lethe.Open, s.Timesteps()[0].State)
		require.NoError(t, CloseTimestep(t.Context(), s, 1))
		got, err := s.Load(1)
		require.NoError(t, err)
		require.Len(t, got.Snapshot.Nodes, 300)
		require.NoError(t, s.Close())
	}
}
