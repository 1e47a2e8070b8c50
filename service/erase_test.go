package service_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lethe"
	"lethe/configs"
	"lethe/dataset"
	"lethe/deletions"
	"lethe/ingest"
	"lethe/ingest/bus"
	"lethe/internal/residue"
	"lethe/service"
)

// erase publishes a request and waits until it ends.
func (r *running) erase(id string, scope lethe.Scope, nodes ...lethe.TransactionID) deletions.State {
	r.t.Helper()
	before := r.await(func(*service.Status) bool { return true })
	key, value, err := ingest.EncodeErasure(lethe.ErasureRequest{RequestID: id, Targets: lethe.Transactions(nodes...),
		Scope: scope}, time.Time{})
	require.NoError(r.t, err)
	require.NoError(r.t, r.Client().Write(r.t.Context(), bus.Erasures, []ingest.Outgoing{{Key: key, Value: value}}))
	ended := func(st *service.Status) int {
		return st.Erasures[deletions.Verified] + st.Erasures[deletions.Rejected]
	}
	r.await(func(st *service.Status) bool { return ended(st) > ended(before) })
	return r.outcome(id) // what ended may be another one, which the status before did not count yet
}

// formsOf lists the forms in which a transaction could be left.
func formsOf(t testing.TB, c configs.Config, s *dataset.Stream, id lethe.TransactionID) []residue.Form {
	t.Helper()
	secret, err := configs.LoadOrCreateSecret(c.SecretFile, nil)
	require.NoError(t, err)
	forms, err := residue.Of(secret, s, id)
	require.NoError(t, err)
	return forms
}

// left lists where the forms stand in the files of a folder, which a running
// service may change meanwhile.
func left(t testing.TB, dir string, forms []residue.Form) []residue.Hit {
	t.Helper()
	report, err := residue.Search(forms, dir)
	require.NoError(t, err)
	require.Greater(t, report.Files, 10, "there is hardly a file to search")
	return report.Hits
}

func TestErasureLeavesNoByteAndASignedReceipt(t *testing.T) {
	t.Parallel()
	stream := smallStream(t, 5, 80, 3)
	c := smallConfig(t, t.TempDir())
	s := start(t, c)
	before := s.replay(stream)
	id := labelledIllicit(stream, 3)[0]
	forms := formsOf(t, c, stream, id)
	require.NotEmpty(t, left(t, c.DataDir, forms), "the search finds nothing even before the erasure")

	require.Equal(t, deletions.Verified, s.erase("gdpr-1", lethe.ScopeStubs, id))
	require.Empty(t, left(t, c.DataDir, forms))
	after := s.await(func(*service.Status) bool { return true })
	require.NotEqual(t, before.EnsembleHash, after.EnsembleHash)
	require.Equal(t, before.Transactions-1, after.Transactions)
	require.Equal(t, before.Predictions-1, after.Predictions)
	s.stop()
	require.Empty(t, left(t, c.DataDir, forms), "after the service has stopped")

	receipt := receiptOf(t, c, "gdpr-1")
	require.Equal(t, before.EnsembleHash, receipt.EnsembleBefore.String())
	require.Equal(t, after.EnsembleHash, receipt.EnsembleAfter.String())
	require.Equal(t, []lethe.Timestep{3}, receipt.Timesteps)
	require.True(t, receipt.Checkpoints.Fits(receipt.EnsembleBefore, receipt.EnsembleAfter))
	stayed := 0
	for i, digest := range receipt.Checkpoints.After {
		if digest == receipt.Checkpoints.Before[i] {
			stayed++
		}
	}
	require.Less(t, stayed, len(receipt.Checkpoints.After))
	require.Equal(t, c.Partition.Shards-len(receipt.ShardsRetrained), stayed, "models of other shards stay")
	require.Zero(t, receipt.Scan.Hits)
	require.Positive(t, receipt.Scan.Records)
}
