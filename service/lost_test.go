package service_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"lethe"
	"lethe/configs"
	"lethe/dataset"
	"lethe/deletions"
	"lethe/service"
	"lethe/service/servicetest"
)

// refused begins a service that must not begin, and returns the one line that says why.
func refused(t *testing.T, c configs.Config) error {
	t.Helper()
	s, err := service.New(context.Background(), servicetest.Options(c))
	if err == nil {
		require.NoError(t, s.Close())
	}
	require.Error(t, err)
	require.NotContains(t, err.Error(), "\n")
	return err
}

// remove removes folders of the data directory.
func remove(t *testing.T, c configs.Config, folders ...string) {
	t.Helper()
	for _, folder := range folders {
		path := filepath.Join(c.DataDir, folder)
		require.DirExists(t, path)
		require.NoError(t, os.RemoveAll(path))
	}
}

// Whatever part of the state is lost after an erasure, what was erased does not
// come back: the ledger is made again from its copy, suppression from the ledger; where
// that is not enough, the start is refused in one line.
func TestWhatWasErasedDoesNotReturnThroughLostFolders(t *testing.T) {
	t.Parallel()
	stream := servicetest.SmallStream(t, 3, 50, 31)
	c := servicetest.SmallConfig(t, t.TempDir())
	s := start(t, c)
	s.Replay(stream)
	id := servicetest.LabelledIllicit(stream, 2)[0]
	forms := servicetest.FormsOf(t, c, stream, id)
	require.Equal(t, deletions.Verified, s.Erase("gone", lethe.ScopeStubs, id))
	before := s.Quiet()
	models := before.EnsembleHash
	s.Stop()

	// The ledger: made again from its copy.
	remove(t, c, "build/ledger")
	s = start(t, c)
	s.ReplayAgain(stream)
	require.Equal(t, before.Transactions, s.Quiet().Transactions)
	require.Equal(t, models, s.Quiet().EnsembleHash)
	require.Equal(t, 1, s.Quiet().Erasures[deletions.Verified])
	require.Equal(t, deletions.Verified, s.Erase("again", lethe.ScopeStubs, id))
	require.Equal(t, []deletions.Outcome{deletions.OutcomeAlreadyErased}, outcomes(s, "again"))
	requireClean(s, c.DataDir, forms)
	s.Stop()

	// Ledger and broker: only the receipts tell, and they do not tell enough.
	aside := filepath.Join(t.TempDir(), "aside")
	require.NoError(t, os.CopyFS(aside, os.DirFS(c.DataDir)))
	for _, private := range []string{"keys/receipt-ed25519.pem", "instance"} {
		require.NoError(t, os.Chmod(filepath.Join(aside, private), 0o600))
	}
	lost := c
	lost.DataDir = aside
	remove(t, lost, "build/ledger", "broker")
	require.ErrorContains(t, refused(t, lost), "request again, which has a receipt")

	// The store of graphs, and then all that graphs and erasure keep: made again, as if
	// the stream had never held the record.
	for _, folder := range []string{"build/snapshots", "build"} {
		remove(t, c, folder)
		s = start(t, c)
		f := madeAgain(s, c, stream, id)
		requireClean(s, c.DataDir, forms)

		// What is there can be erased, and what was erased does not return.
		other := servicetest.LabelledIllicit(stream, 2)[1]
		s.ReplayAgain(stream)
		require.Equal(t, before.Transactions, s.Quiet().Transactions)
		if folder == "build" {
			require.Equal(t, deletions.Verified, s.Erase("after", lethe.ScopeStubs, other))
			f.m.forget(lethe.ScopeStubs, other)
			requireEqual(f.running, f.m.build())
		}
		s.Stop()
	}
}

// madeAgain waits until everything is as if a stream of three timesteps had never held a
// transaction.
func madeAgain(r *running, c configs.Config, stream *dataset.Stream, id lethe.TransactionID) *forgetting {
	r.T.Helper()
	m := newMirror(r.T, c, stream)
	m.gone[id] = true
	m.settle(1, 2, 3)
	want := m.build()
	r.Await(func(st *service.Status) bool {
		return st.LagRecords == 0 && st.Timesteps.Settled == 3 && st.EnsembleHash == want.ensemble
	})
	f := &forgetting{running: r, m: m}
	requireEqual(f.running, want)
	return f
}

// A store of graphs that is lost while a request is carried out is not made again.
func TestGraphsAreNotMadeAgainAmidAnErasure(t *testing.T) {
	t.Parallel()
	stream := servicetest.SmallStream(t, 3, 50, 33)
	c := servicetest.SmallConfig(t, t.TempDir())
	s := start(t, c)
	s.Replay(stream)
	s.Stop()
	// Without train, the request is not done.
	alone := c
	alone.Roles = []string{configs.RoleBuild, configs.RoleScore, configs.RoleView}
	s = start(t, alone)
	submit(s, request(t, "waits", servicetest.LabelledIllicit(stream, 2)[0]))
	s.Await(func(st *service.Status) bool { return st.Erasures[deletions.Retraining] == 1 })
	s.Stop()
	remove(t, c, "build/snapshots")
	err := refused(t, c)
	require.ErrorContains(t, err, "build/snapshots holds nothing, but request waits is being carried out")
	require.True(t, strings.HasSuffix(err.Error(), "with an empty data directory and empty topics)"))
}

// The store of graphs is whole or not opened: of what is left nothing is removed.
func TestAPartOfTheGraphsIsLost(t *testing.T) {
	t.Parallel()
	stream := servicetest.SmallStream(t, 3, 50, 32)
	c := servicetest.SmallConfig(t, t.TempDir())
	s := start(t, c)
	s.Replay(stream)
	id := servicetest.LabelledIllicit(stream, 2)[0]
	require.Equal(t, deletions.Verified, s.Erase("gone", lethe.ScopeStubs, id))
	s.Stop()
	remove(t, c, "build/snapshots/staging")
	require.ErrorContains(t, refused(t, c),
		"holds the graphs of 3 timesteps, but no staging (put the folder back from a copy)")
	require.FileExists(t, filepath.Join(c.DataDir, "build/snapshots/t000002.2.graph"))

	c = servicetest.SmallConfig(t, t.TempDir())
	s = start(t, c)
	s.Replay(stream)
	s.Stop()
	require.NoError(t, os.Remove(filepath.Join(c.DataDir, "build/snapshots/t000002.1.graph")))
	require.ErrorContains(t, refused(t, c), "holds no t000002.1.graph (put the folder back from a copy)")
}

// Topics that are older than the ledger hold slices and predictions of what was erased since, under
// revisions that others have taken: graphs are not made anew of them.
func TestGraphsAreNotMadeAgainOfOlderTopics(t *testing.T) {
	t.Parallel()
	stream := servicetest.SmallStream(t, 3, 50, 34)
	c := servicetest.SmallConfig(t, t.TempDir())
	s := start(t, c)
	s.Replay(stream)
	s.Stop()
	older := filepath.Join(t.TempDir(), "broker")
	require.NoError(t, os.CopyFS(older, os.DirFS(filepath.Join(c.DataDir, "broker"))))
	s = start(t, c)
	require.Equal(t, deletions.Verified, s.Erase("gone", lethe.ScopeStubs, servicetest.LabelledIllicit(stream, 2)[0]))
	s.Stop()

	remove(t, c, "broker")
	require.NoError(t, os.CopyFS(filepath.Join(c.DataDir, "broker"), os.DirFS(older)))
	require.ErrorContains(t, refused(t, c), "position is past the end of the log", "and nothing is copied to the topics")
	remove(t, c, "build/snapshots", "train", "score")
	for range 2 {
		require.ErrorContains(t, refused(t, c),
			"build/snapshots holds nothing, and control.v1 does not know how request gone ended")
	}
}
