package service_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lethe"
	"lethe/audit"
	"lethe/deletions"
	"lethe/deletions/receipt"
	"lethe/ingest"
	"lethe/ingest/bus"
	"lethe/pipeline/requests"
	"lethe/service"
	"lethe/service/servicetest"
)

// What a held request names beside what is held is erased for another request, whose receipt
// says that the held one's own record names it. That goes when the hold ends.
func TestAHeldRequestKeepsNoOtherFromItsReceipt(t *testing.T) {
	t.Parallel()
	stream := servicetest.SmallStream(t, 3, 60, 51)
	c := servicetest.SmallConfig(t, t.TempDir())
	s := start(t, c)
	s.Replay(stream)
	kept, shared := servicetest.LabelledIllicit(stream, 2)[0], servicetest.LabelledIllicit(stream, 3)[0]
	_, err := requests.SetHold(t.Context(), s.Client(), ingest.Hold{
		Name: "case-7", Transactions: []lethe.TransactionID{kept}, Reason: "court", RequestedAt: time.Now(),
	})
	require.NoError(t, err)
	s.Submit(lethe.ErasureRequest{RequestID: "waits", Targets: lethe.Transactions(kept, shared)})
	s.Await(func(st *service.Status) bool { return st.Erasures[deletions.Held] == 1 })

	require.Equal(t, deletions.Verified, s.Erase("goes", lethe.ScopeStubs, shared))
	named := []deletions.HeldRequest{{
		RequestID: "waits", RequestDigest: s.StatusOf("waits").RequestDigest, Holds: []string{"case-7"}, Records: 1,
	}}
	r := servicetest.Receipt(t, c, "goes")
	require.Equal(t, named, r.HeldRequests)
	require.Equal(t, named, s.StatusOf("goes").HeldRequests)
	require.Contains(t, r.MayRemain, receipt.InHeldRequests(named)[0])
	require.Equal(t, []deletions.Outcome{deletions.OutcomeErased}, s.outcomes("goes"))
	for _, hit := range servicetest.Left(t, c.DataDir, servicetest.FormsOf(t, c, stream, shared)) {
		require.Contains(t, hit.Path, string(bus.Erasures), "it is left elsewhere than in the request that waits")
	}
	s.Stop()
	report, err := audit.Check(t.Context(), audit.Options{Config: c})
	require.NoError(t, err)
	require.Empty(t, report.Problems)

	s = start(t, c)
	s.Await(func(st *service.Status) bool { return st.Erasures[deletions.Held] == 1 })
	_, err = requests.LiftHold(t.Context(), s.Client(), "case-7", time.Now())
	require.NoError(t, err)
	s.Await(servicetest.Verified(2))
	require.Equal(t, []deletions.Outcome{deletions.OutcomeErased, deletions.OutcomeAlreadyErased}, s.outcomes("waits"))
	require.Empty(t, servicetest.Receipt(t, c, "waits").HeldRequests)
	s.Stop()
	for _, id := range []lethe.TransactionID{kept, shared} {
		require.Empty(t, servicetest.Left(t, c.DataDir, servicetest.FormsOf(t, c, stream, id)))
	}
}
