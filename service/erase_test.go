package service_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"lethe"
	"lethe/deletions"
	"lethe/service"
	"lethe/service/servicetest"
)

func TestErasureLeavesNoByteAndASignedReceipt(t *testing.T) {
	t.Parallel()
	stream := servicetest.SmallStream(t, 5, 80, 3)
	c := servicetest.SmallConfig(t, t.TempDir())
	s := start(t, c)
	before := s.Replay(stream)
	id := servicetest.LabelledIllicit(stream, 3)[0]
	forms := servicetest.FormsOf(t, c, stream, id)
	require.NotEmpty(t, servicetest.Left(t, c.DataDir, forms), "the search finds nothing even before the erasure")

	require.Equal(t, deletions.Verified, s.Erase("gdpr-1", lethe.ScopeStubs, id))
	require.Empty(t, servicetest.Left(t, c.DataDir, forms))
	after := s.Await(func(*service.Status) bool { return true })
	require.NotEqual(t, before.EnsembleHash, after.EnsembleHash)
	require.Equal(t, before.Transactions-1, after.Transactions)
	require.Equal(t, before.Predictions-1, after.Predictions)
	s.Stop()
	require.Empty(t, servicetest.Left(t, c.DataDir, forms), "after the service has stopped")

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
