package snapshot

import (
	"context"
	"errors"
	"fmt"
	"os"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/stretchr/testify/require"

	"lethe"
	"lethe/internal/swapstore"
	"lethe/snapshot/suppressed"
)

// openMem opens a store of transactions of one feature, or as many as are given.
func openMem(t testing.TB, fs vfs.FS, features ...int) *Store {
	t.Helper()
	o := optionsOf(fs)
	o.FeatureCount = append(features, 1)[0]
	s, err := Open("data", o)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	return s
}

// optionsOf has one partition of each stream, and rows of one feature.
func optionsOf(fs vfs.FS) Options {
	c := Defaults()
	c.LabelLatenessTimesteps, c.FeatureCount = 0, 1
	return Options{Config: c, Secret: lethe.Secret{3}, FS: fs, TransactionPartitions: 1, LabelPartitions: 1}
}

func begin(t testing.TB, s *Store, stream Stream) *Batch {
	t.Helper()
	b, err := s.Begin(Source{Stream: stream, Topic: fmt.Sprint("topic", stream)})
	require.NoError(t, err)
	return b
}

// end gives a batch a control record that comes right after what it has seen.
func end(t testing.TB, b *Batch, at lethe.Timestep) {
	t.Helper()
	v, err := b.Control(at, Origin{Offset: b.nextOffset})
	require.NoError(t, err)
	require.Equal(t, Accepted, v.Outcome)
}

// fill takes one transaction per timestep, and closes and settles all but the
// last.
func fill(t testing.TB, s *Store, steps int) {
	t.Helper()
	b := begin(t, s, Transactions)
	for step := range steps {
		tr := lethe.Transaction{ID: lethe.TransactionID(fmt.Sprint("t", step)), Timestep: lethe.Timestep(step),
			Features: []float32{1}}
		_, err := b.Transaction(tr, Origin{Offset: int64(step)})
		require.NoError(t, err)
	}
	require.NoError(t, b.Commit(int64(steps)))
	b = begin(t, s, Labels)
	end(t, b, lethe.Timestep(steps))
	require.NoError(t, b.Commit(1))
	toClose, _ := s.Ready()
	require.Len(t, toClose, steps-1)
	for _, at := range toClose {
		require.NoError(t, CloseTimestep(context.Background(), s, at))
		require.NoError(t, s.SettleTimestep(context.Background(), at, oneShard))
	}
}

func oneShard(g *lethe.Snapshot) ([]lethe.ShardID, error) {
	return make([]lethe.ShardID, len(g.Nodes)), nil
}

func TestStaleBatchStoresNothing(t *testing.T) {
	s := openMem(t, vfs.NewMem())
	for name, change := range map[string]func() error{
		"commit of another": func() error { return begin(t, s, Transactions).Commit(0) },
		"suppress":          func() error { return s.Suppressed().Add(lethe.Transactions("x")) },
		"erase":             func() error { return s.Erase(context.Background(), nil) },
		"confirm":           func() error { return s.Letters().Confirm(1) },
	} {
		b := begin(t, s, Transactions)
		_, err := b.Transaction(lethe.Transaction{ID: "a", Timestep: 1, Features: []float32{1}}, Origin{})
		require.NoError(t, err)
		require.NoError(t, change(), name)
		require.ErrorIs(t, b.Commit(1), ErrStale, name)
		_, err = b.Transaction(lethe.Transaction{ID: "b", Timestep: 1, Features: []float32{1}}, Origin{Offset: 1})
		require.ErrorIs(t, err, ErrStale, name)
	}
	require.Empty(t, s.Timesteps())
	b := begin(t, s, Transactions)
	require.NoError(t, b.Commit(7))
	require.ErrorIs(t, b.Commit(8), ErrStale, "a batch is committed once")
	require.Equal(t, map[TopicPartition]int64{{"topic1", 0}: 7}, s.Offsets())
}

func TestOpenRemovesFilesThatAreNotListed(t *testing.T) {
	fs := vfs.NewMem()
	s := openMem(t, fs)
	fill(t, s, 3)
	g, _, err := s.staging.assemble(context.Background(), s.staging.change(), 2, nil, 1)
	require.NoError(t, err)
	require.NoError(t, s.closed.Write(g))
	require.NoError(t, fs.MkdirAll("data/tools", 0o700))
	require.NoError(t, s.Close())
	s = openMem(t, fs)
	names, err := fs.List("data")
	require.NoError(t, err)
	require.ElementsMatch(t, []string{
		StagingFolder, "t000000.1.graph", "t000000.1.assigned", "t000001.1.graph", "t000001.1.assigned", "tools",
	}, names)
	require.Len(t, s.Timesteps(), 3)
}

func TestSettlingRefusesABadAssignment(t *testing.T) {
	s := openMem(t, vfs.NewMem())
	fill(t, s, 2)
	b := begin(t, s, Transactions)
	end(t, b, 1)
	require.NoError(t, b.Commit(2))
	ctx := context.Background()
	require.NoError(t, CloseTimestep(ctx, s, 1))
	broken := errors.New("no shard")
	err := s.SettleTimestep(ctx, 1, func(*lethe.Snapshot) ([]lethe.ShardID, error) { return nil, broken })
	require.ErrorIs(t, err, broken)
	err = s.SettleTimestep(ctx, 1, func(*lethe.Snapshot) ([]lethe.ShardID, error) { return nil, nil })
	require.ErrorContains(t, err, "0 shards for 1 nodes")
	require.Equal(t, lethe.Closed, s.Timesteps()[1].State)
	require.NoError(t, s.SettleTimestep(ctx, 1, oneShard))
	require.Equal(t, lethe.Timestep(0), s.Timesteps()[1].Previous)
}

func TestWrongUseIsToldApart(t *testing.T) {
	s := openMem(t, vfs.NewMem())
	fill(t, s, 2)
	ctx := context.Background()
	_, err := s.Load(9)
	require.ErrorIs(t, err, ErrUnknownTimestep)
	_, err = s.Load(1)
	require.ErrorIs(t, err, ErrNotReady)
	require.ErrorIs(t, CloseTimestep(ctx, s, 9), ErrUnknownTimestep)
	require.ErrorIs(t, s.SettleTimestep(ctx, 9, oneShard), ErrUnknownTimestep)
	require.ErrorIs(t, s.SettleTimestep(ctx, 1, oneShard), ErrNotReady)
}

func TestDamagedStagingIsFound(t *testing.T) {
	for name, entry := range map[string][2][]byte{
		"short suppressed": {{suppressed.Kind, 1}, nil},
		"long offset":      {offsetKey(TopicPartition{"t", 0}), make([]byte, 9)},
		"no partition":     {watermarkKey(Labels, 1), make([]byte, 8)},
		"cut info":         {timestepKey(kindInfo, 1), {1}},
		"odd key of info":  {{kindInfo, 1}, Info{}.encode()},
	} {
		t.Run(name, func(t *testing.T) {
			s := openMem(t, vfs.NewMem())
			require.NoError(t, swapstore.Set(s.staging, entry[0], entry[1]))
			require.NoError(t, s.Close())
			_, err := Open("data", s.staging.options)
			require.ErrorIs(t, err, ErrCorrupt)
		})
	}
}

// A store on a file system in memory leaves no file, whatever it does.
func TestAStoreInMemoryTouchesNoDisk(t *testing.T) {
	t.Chdir(t.TempDir())
	s := openMem(t, vfs.NewMem())
	fill(t, s, 3)
	require.NoError(t, s.Erase(context.Background(), lethe.Transactions("t1")))
	_, err := s.Load(0)
	require.NoError(t, err)
	files, err := os.ReadDir(".")
	require.NoError(t, err)
	require.Empty(t, files)
}

func TestMarksAreKept(t *testing.T) {
	fs := vfs.NewMem()
	s := openMem(t, fs)
	require.NoError(t, begin(t, s, NoStream).Commit(4))
	require.NoError(t, s.Marks().Put([]byte("published/1"), []byte("yes")))
	require.NoError(t, s.Marks().Put([]byte("published/2"), []byte{}))
	require.NoError(t, s.Erase(context.Background(), nil))
	require.NoError(t, s.Close())
	s = openMem(t, fs)
	for key, want := range map[string][]byte{"published/1": []byte("yes"), "published/2": {}, "other": nil} {
		got, found, err := s.Marks().Get([]byte(key))
		require.NoError(t, err)
		require.Equal(t, want != nil, found, key)
		require.Equal(t, want, got, key)
	}
	require.Equal(t, int64(4), s.Offsets()[TopicPartition{"topic0", 0}])
}
