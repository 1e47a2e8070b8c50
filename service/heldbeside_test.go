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
)

// What a held request names beside what is held is erased for another request, whose receipt
// says that the held one's own record names it. That goes when the hold ends.
func TestAHeldRequestKeepsNoOtherFromItsReceipt(t *testing.T) {
	t.Parallel()
	stream := smallStream(t, 3, 60, 51)
	c := smallConfig(t, t.TempDir())
	s := start(t, c)
	s.replay(stream)
	kept, shared := labelledIllicit(stream, 2)[0], labelledIllicit(stream, 3)[0]
	_, err := requests.SetHold(t.Context(), s.Client(), ingest.Hold{
		Name: "case-7", Transactions: []lethe.TransactionID{kept}, Reason: "court", RequestedAt: time.Now(),
	})
	require.NoError(t, err)
	s.submit(lethe.ErasureRequest{RequestID: "waits", Targets: lethe.Transactions(kept, shared)})
	s.await(func(st *service.Status) bool { return st.Erasures[deletions.Held] == 1 })

	require.Equal(t, deletions.Verified, s.erase("goes", lethe.ScopeStubs, shared))
	named := []deletions.HeldRequest{{
		RequestID: "waits", RequestDigest: s.statusOf("waits").RequestDigest, Holds: []string{"case-7"}, Records: 1,
	}}
	r := keptReceipt(t, c, "goes")
	require.Equal(t, named, r.HeldRequests)
	require.Equal(t, named, s.statusOf("goes").HeldRequests)
	require.Contains(t, r.MayRemain, receipt.InHeldRequests(named)[0])
	require.Equal(t, []deletions.Outcome{deletions.OutcomeErased}, s.outcomes("goes"))
	for _, hit := range left(t, c.DataDir, formsOf(t, c, stream, shared)) {
		require.Contains(t, hit.Path, string(bus.Erasures), "it is left elsewhere than in the request that waits")
	}
	s.stop()
	report, err := audit.Check(t.Context(), audit.Options{Config: c})
	require.NoError(t, err)
	require.Empty(t, report.Problems)

	s = start(t, c)
	s.await(func(st *service.Status) bool { return st.Erasures[deletions.Held] == 1 })
	_, err = requests.LiftHold(t.Context(), s.Client(), "case-7", time.Now())
	require.NoError(t, err)
	s.await(verified(2))
	require.Equal(t, []deletions.Outcome{deletions.OutcomeErased, deletions.OutcomeAlreadyErased}, s.outcomes("waits"))
	require.Empty(t, keptReceipt(t, c, "waits").HeldRequests)
	s.stop()
	for _, id := range []lethe.TransactionID{kept, shared} {
		require.Empty(t, left(t, c.DataDir, formsOf(t, c, stream, id)))
	}
}

// submit publishes a request at scope stubs.
func (r *running) submit(request lethe.ErasureRequest) {
	r.t.Helper()
	request.Scope = lethe.ScopeStubs
	key, value, err := ingest.EncodeErasure(request, time.Time{})
	r.send(bus.Erasures, key, value, err)
}

// statusOf is what is said of a request.
func (r *running) statusOf(id string) deletions.Status {
	r.t.Helper()
	s, err := first(requests.Find(r.t.Context(), r.Client(), id))
	require.NoError(r.t, err)
	return s
}
