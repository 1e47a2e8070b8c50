package service_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lethe"
	"lethe/audit"
	"lethe/deletions"
	"lethe/ingest"
	"lethe/pipeline/requests"
	"lethe/service"
	"lethe/service/servicetest"
)

// What is older than it may be kept goes by requests of lethe's own, one for a timestep; what
// is held stays until the hold is lifted.
func TestRetentionErasesOldTimesteps(t *testing.T) {
	t.Parallel()
	stream := servicetest.SmallStream(t, 4, 40, 43)
	c := servicetest.SmallConfig(t, t.TempDir())
	c.Erasure.RetainTimesteps = 2
	s := start(t, c)
	held := stream.Steps[0].Transactions[0]
	_, err := requests.SetHold(t.Context(), s.Client(), ingest.Hold{
		Name: "case", Transactions: []lethe.TransactionID{held.ID}, Reason: "court", RequestedAt: time.Now(),
	})
	require.NoError(t, err)
	// Not s.replay: a held request keeps the offset of its partition.
	_, err = service.Replay(t.Context(), s.Client(), stream, service.ReplayOptions{})
	require.NoError(t, err)
	old := len(stream.Steps) - 2
	st := s.Await(func(st *service.Status) bool {
		return st.Erasures[deletions.Verified] == old && st.Erasures[deletions.Held] == 1
	})
	require.Equal(t, 3, st.Timesteps.Settled, "the held one, and those that are kept")

	_, err = requests.LiftHold(t.Context(), s.Client(), "case", time.Now())
	require.NoError(t, err)
	st = s.Await(servicetest.Verified(old + 1))
	require.Equal(t, 2, st.Timesteps.Settled)
	s.Stop()
	report, err := audit.Check(t.Context(), audit.Options{Config: c})
	require.NoError(t, err)
	require.Empty(t, report.Problems)
	require.Equal(t, old+1, report.Erasures)
}
