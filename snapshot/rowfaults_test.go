package snapshot

import (
	"io"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/errorfs"
	"github.com/stretchr/testify/require"

	"lethe"
)

// failsOnce fails in the next operation of a kind on a file of rows, once it is told to.
func failsOnce(fs vfs.FS, kind errorfs.OpKind) (vfs.FS, *atomic.Bool) {
	fail := new(atomic.Bool)
	return errorfs.Wrap(fs, errorfs.InjectorFunc(func(op errorfs.Op) error {
		if op.Kind == kind && strings.Contains(op.Path, "/rows/") && fail.CompareAndSwap(true, false) {
			return errorfs.ErrInjected
		}
		return nil
	})), fail
}

// pay takes a payment.
func (f *filed) pay(at lethe.Timestep, source, target lethe.TransactionID) {
	f.Helper()
	b, err := f.store.Begin(Source{Transactions, "transactions", 0})
	require.NoError(f, err)
	v, err := b.Payment(lethe.Payment{Timestep: at, Source: source, Target: target}, Origin{Offset: f.offset})
	require.NoError(f, err)
	require.Equal(f, Accepted, v.Outcome)
	f.offset++
	require.NoError(f, b.Commit(f.offset))
}

// Transactions of a timestep that comes late are counted where they are when an erasure empties the one after it.
func TestRowsInFilesAreCountedAgain(t *testing.T) {
	f := newFiled(t)
	f.pay(1, "a", "b") // refused once timestep 2 has closed
	f.take(2, 5, "x")
	f.take(3, 5, "y")
	require.NoError(t, CloseTimestep(t.Context(), f.store, 2))
	f.take(1, 5, "a", "b")
	require.Equal(t, 2, f.store.Timesteps()[0].Nodes)
	require.NoError(t, f.store.Erase(t.Context(), lethe.Transactions("x")))
	require.Equal(t, 2, f.store.Timesteps()[0].Nodes)
	toClose, _ := f.store.Ready()
	require.Equal(t, []lethe.Timestep{1}, toClose)
	require.NoError(t, CloseTimestep(t.Context(), f.store, 1))
	content, err := f.store.Load(1)
	require.NoError(t, err)
	require.Len(t, content.Snapshot.Nodes, 2)
	require.Len(t, content.Snapshot.Payments, 1)
}

// A file that could not be made durable is no part of the store, and is not left when an erasure has ended.
func TestAFileThatCouldNotBeWrittenGoes(t *testing.T) {
	fs, fail := failsOnce(vfs.NewMem(), errorfs.OpFileSync)
	f := newFiledOn(t, fs)
	fail.Store(true)
	b, err := f.store.Begin(Source{Transactions, "transactions", 0})
	require.NoError(t, err)
	_, err = b.Transaction(lethe.Transaction{ID: "secret-id", Timestep: 1, Features: []float32{1, 2}}, Origin{})
	require.NoError(t, err)
	require.ErrorIs(t, b.Commit(1), errorfs.ErrInjected)
	f.take(1, 1, "secret-id", "other")
	require.NoError(t, f.store.Erase(t.Context(), lethe.Transactions("secret-id")))
	require.NoError(t, ScrubAtOnce(t.Context(), f.store))
	names, err := f.fs.List("data/staging/rows")
	require.NoError(t, err)
	for _, name := range names {
		file, err := f.fs.Open("data/staging/rows/" + name)
		require.NoError(t, err)
		content, err := io.ReadAll(file)
		require.NoError(t, err)
		require.NoError(t, file.Close())
		require.NotContains(t, string(content), "secret-id", name)
	}
}

// What cannot be unlinked when a timestep is inserted is no reason to forget that it was.
func TestAFailedRemovalLosesNothing(t *testing.T) {
	fs, fail := failsOnce(vfs.NewMem(), errorfs.OpRemove)
	f := newFiledOn(t, fs)
	f.take(2, 5, "x")
	f.take(3, 5, "y")
	require.NoError(t, CloseTimestep(t.Context(), f.store, 2))
	f.take(1, 5, "a", "b")
	fail.Store(true)
	for range 2 {
		_, err := f.store.ReopenTimestep(t.Context(), 1, oneShard)
		require.NoError(t, err)
		require.False(t, fail.Load())
	}
	content, err := f.store.Load(1)
	require.NoError(t, err)
	require.Len(t, content.Snapshot.Nodes, 2)
	require.NoError(t, f.store.Erase(t.Context(), lethe.Transactions("nobody")))
	files, _ := f.files()
	require.Equal(t, 1, files, "that of timestep 3")
}

// An erasure leaves no file that another goroutine is about to remove.
func TestAnErasureWaitsForFilesThatAreBeingRemoved(t *testing.T) {
	var once sync.Once
	asked, may := make(chan struct{}), make(chan struct{})
	f := newFiledOn(t, errorfs.Wrap(vfs.NewMem(), errorfs.InjectorFunc(func(op errorfs.Op) error {
		if op.Kind == errorfs.OpRemove && strings.Contains(op.Path, "/rows/") {
			once.Do(func() {
				close(asked)
				<-may
			})
		}
		return nil
	})))
	f.take(1, 5, "a", "b")
	f.take(2, 5, "c")
	c, err := f.store.BeginClosing(1)
	require.NoError(t, err)
	require.NoError(t, c.Finish(t.Context()))
	require.NoError(t, c.Sync())
	var working sync.WaitGroup
	working.Go(c.Clean) // as the role has it, beside the loop
	<-asked
	erased := make(chan error, 1)
	go func() { erased <- f.store.Erase(t.Context(), lethe.Transactions("a")) }()
	waited := true
	select {
	case err = <-erased:
		waited = false
		close(may)
	case <-time.After(200 * time.Millisecond):
		close(may)
		err = <-erased
	}
	require.NoError(t, err)
	files, _ := f.files()
	working.Wait()
	require.True(t, waited)
	require.Equal(t, 1, files)
}
