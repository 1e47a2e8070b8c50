package erase

import (
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/stretchr/testify/require"

	"lethe"
	"lethe/deletions/scan"
	"lethe/internal/swapstore"
	"lethe/snapshot"
)

var secret = lethe.Secret{3}

// What waits in staging is kept as its producer spelled it. A payment of others that
// names the erased id, escaped, keeps the request from being called erased.
func TestWhatWaitsInStagingIsSearchedByWhatItSays(t *testing.T) {
	fs := vfs.NewMem()
	store, err := snapshot.Open("snapshots", snapshot.Options{
		Config: snapshot.Defaults(), Secret: secret, FS: fs, TransactionPartitions: 1, LabelPartitions: 1,
	})
	require.NoError(t, err)
	defer func() { require.NoError(t, store.Close()) }()
	e := search{store, swapstore.Files(fs, "snapshots")}
	prints, err := scan.TransactionFingerprints(secret, "café-1")
	require.NoError(t, err)
	scanner, err := scan.NewScanner(secret, prints)
	require.NoError(t, err)

	batch, err := store.Begin(snapshot.Source{Stream: snapshot.Transactions, Topic: "transactions.v1"})
	require.NoError(t, err)
	_, err = batch.Payment(lethe.Payment{Source: "other", Target: "another", Timestep: 1}, snapshot.Origin{
		Topic: "transactions.v1", Key: []byte("other>another"), Value: []byte(`{"of":"caf\u00e9-1"}`),
	})
	require.NoError(t, err)
	require.NoError(t, batch.Commit(1))
	report, err := e.Search(t.Context(), scanner, nil)
	require.NoError(t, err)
	require.NotEmpty(t, report.Hits)
	require.Equal(t, snapshot.StagingFolder, report.Hits[0].Path)
}
