package service_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lethe"
	"lethe/audit"
	"lethe/deletions"
	"lethe/ingest"
	"lethe/ingest/bus"
	"lethe/pipeline/requests"
	"lethe/service"
	"lethe/service/servicetest"
)

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
	s.send(bus.Transactions, ingest.PaymentKey(payer, payee), fmt.Appendf(nil,
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
	require.Equal(t, []deletions.Outcome{deletions.OutcomeHeld, ""}, s.outcomes("carries"))
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
	report, err := audit.Check(t.Context(), audit.Options{Config: c})
	require.NoError(t, err)
	require.Empty(t, report.Problems)
}
