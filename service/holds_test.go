package service_test

import (
	"fmt"
	"net/http"
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
	"lethe/service/api"
	"lethe/service/servicetest"
)

// V29: a hold is set, seen and lifted through the API; a request, and a plan, wait for it meanwhile.
func TestHolds_API(t *testing.T) {
	t.Parallel()
	c := impatient(t)
	r := start(t, c)
	ask := callerOf(r)
	until := time.Now().Add(time.Hour).UTC().Truncate(time.Millisecond)
	asked := api.HoldRequest{
		Name: "case-7", Nodes: []string{"a"}, Subjects: []string{"customer"}, Reason: "court", Until: until,
	}
	var hold api.Hold
	require.Equal(t, http.StatusOK, ask.ask(http.MethodPost, "/holds", asked, &hold))
	require.Equal(t, []any{"in_force", 1, 1, until}, []any{hold.State, hold.Transactions, hold.Subjects, hold.Until})
	require.Equal(t, http.StatusConflict, ask.ask(http.MethodPost, "/holds", asked, nil))
	for _, refused := range []api.HoldRequest{
		{Reason: "court"}, {Nodes: []string{"a"}}, {Nodes: []string{"a"}, Name: "a", Reason: "court"},
		{Nodes: []string{"a"}, Reason: "court", Until: time.Unix(1, 0).UTC()},
		{Nodes: []string{"a"}, Reason: "court", Name: "no name"},
	} {
		require.Equal(t, http.StatusBadRequest, ask.ask(http.MethodPost, "/holds", refused, nil), "%+v", refused)
	}
	require.Equal(t, http.StatusNotFound, ask.ask(http.MethodPost, "/holds/case-8/lift", nil, nil))

	var plan service.Plan
	require.Equal(t, http.StatusOK,
		ask.ask(http.MethodPost, "/erasures/plan", service.PlanRequest{Nodes: []string{"a"}}, &plan))
	require.Equal(t, []deletions.WaitsForHold{{Name: "case-7", Until: until}}, plan.Holds)
	var submitted api.Submitted
	require.Equal(t, http.StatusOK, ask.ask(http.MethodPost, "/erasures",
		api.ErasureRequest{RequestID: "gdpr-1", Nodes: []string{"a"}}, &submitted))
	r.Await(func(s *service.Status) bool { return s.Erasures[deletions.Held] == 1 })
	require.Equal(t, http.StatusOK, ask.ask(http.MethodPost, "/holds/case-7/lift", nil, &hold))
	require.Equal(t, "lifted", hold.State)
	r.Await(func(s *service.Status) bool { return s.Erasures[deletions.Verified] == 1 })
	var page api.HoldPage
	ask.get("/holds", &page)
	require.Equal(t, []api.Hold{hold}, page.Items)
}

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
	require.Equal(t, []deletions.Outcome{deletions.OutcomeErased}, outcomes(s, "goes"))
	for _, hit := range servicetest.Left(t, c.DataDir, servicetest.FormsOf(t, c, stream, shared)) {
		require.Contains(t, hit.Path, string(bus.Erasures), "it is left elsewhere than in the request that waits")
	}
	s.Stop()
	servicetest.Audited(t, audit.Options{Config: c})

	s = start(t, c)
	s.Await(func(st *service.Status) bool { return st.Erasures[deletions.Held] == 1 })
	_, err = requests.LiftHold(t.Context(), s.Client(), "case-7", time.Now())
	require.NoError(t, err)
	s.Await(servicetest.Verified(2))
	require.Equal(t, []deletions.Outcome{deletions.OutcomeErased, deletions.OutcomeAlreadyErased}, outcomes(s, "waits"))
	require.Empty(t, servicetest.Receipt(t, c, "waits").HeldRequests)
	s.Stop()
	for _, id := range []lethe.TransactionID{kept, shared} {
		require.Empty(t, servicetest.Left(t, c.DataDir, servicetest.FormsOf(t, c, stream, id)))
	}
}

// A hold of a subject keeps what carries it: from a request for one of its transactions, for the
// end of a payment that carries it, and from retention, which erases the rest of the timestep. What
// waits goes on when the hold is lifted.
func TestAHoldOfASubjectKeepsWhatCarriesIt(t *testing.T) {
	t.Parallel()
	const customer = "customer-17"
	stream := servicetest.SmallStream(t, 4, 40, 53)
	at := func(t lethe.Timestep, i int) *lethe.Transaction { return &servicetest.Step(stream, t).Transactions[i] }
	at(1, 0).Subjects, at(2, 0).Subjects = []string{customer}, []string{customer}
	c := servicetest.SmallConfig(t, t.TempDir())
	c.Erasure.RetainTimesteps = 3
	s := start(t, c)
	_, err := requests.SetHold(t.Context(), s.Client(), ingest.Hold{
		Name: "case-8", Subjects: []string{customer}, Reason: "court", RequestedAt: time.Now(),
	})
	require.NoError(t, err)
	payer, payee := at(3, 0).ID, at(3, 1).ID
	send(s, bus.Transactions)(ingest.PaymentKey(payer, payee), fmt.Appendf(nil,
		`{"type":"payment","source":%q,"target":%q,"timestep":3,"subjects":[%q]}`, payer, payee, customer), nil)
	_, err = service.Replay(t.Context(), s.Client(), stream, service.ReplayOptions{})
	require.NoError(t, err)
	// Retention erases timestep 1 without the one that is held, which has a request of its own.
	s.Await(func(st *service.Status) bool {
		return st.Erasures[deletions.Verified] == 1 && st.Erasures[deletions.Held] == 1 && st.TrainedThrough == 4
	})
	s.Submit(lethe.ErasureRequest{RequestID: "carries", Targets: lethe.Transactions(at(2, 0).ID, at(2, 1).ID)})
	s.Submit(lethe.ErasureRequest{RequestID: "pays", Targets: lethe.Transactions(payee)})
	s.Submit(lethe.ErasureRequest{RequestID: "leaves", Targets: []lethe.Target{lethe.SubjectThrough(customer, 4)}})
	s.Submit(lethe.ErasureRequest{RequestID: "free", Targets: lethe.Transactions(at(2, 2).ID)})
	s.Await(func(st *service.Status) bool {
		return st.Erasures[deletions.Verified] == 2 && st.Erasures[deletions.Held] == 4
	})
	require.Equal(t, deletions.Verified, s.StatusOf("free").State)
	require.Equal(t, []deletions.Outcome{deletions.OutcomeHeld, ""}, outcomes(s, "carries"))
	for _, id := range []lethe.TransactionID{at(1, 0).ID, at(2, 0).ID, payee} {
		require.Equal(t, 1, s.Plan(service.PlanRequest{Nodes: []string{string(id)}}).Held)
	}

	// After a restart nothing goes on before it was read again.
	s.Stop()
	s = start(t, c)
	s.Await(func(st *service.Status) bool { return st.Erasures[deletions.Held] == 4 && st.LagRecords == 0 })
	_, err = requests.LiftHold(t.Context(), s.Client(), "case-8", time.Now())
	require.NoError(t, err)
	s.Await(servicetest.Verified(6))
	s.Stop()
	servicetest.Audited(t, audit.Options{Config: c})
}

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
	report := servicetest.Audited(t, audit.Options{Config: c})
	require.Equal(t, old+1, report.Erasures)
}
