package servicetest

import (
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lethe"
	"lethe/configs"
	"lethe/deletions"
	"lethe/deletions/receipt"
	"lethe/ingest"
	"lethe/ingest/bus"
	"lethe/pipeline/requests"
	"lethe/service"
)

// Erase publishes a request and waits until it ends.
func (r *Running) Erase(id string, scope lethe.Scope, nodes ...lethe.TransactionID) deletions.State {
	r.T.Helper()
	before := r.Await(func(*service.Status) bool { return true })
	r.publish(lethe.ErasureRequest{RequestID: id, Targets: lethe.Transactions(nodes...), Scope: scope})
	ended := func(st *service.Status) int {
		return st.Erasures[deletions.Verified] + st.Erasures[deletions.Rejected]
	}
	r.Await(func(st *service.Status) bool { return ended(st) > ended(before) })
	return r.Outcome(id) // what ended may be another one, which the status before did not count yet
}

// Submit publishes a request at scope stubs.
func (r *Running) Submit(request lethe.ErasureRequest) {
	r.T.Helper()
	request.Scope = lethe.ScopeStubs
	r.publish(request)
}

func (r *Running) publish(request lethe.ErasureRequest) {
	r.T.Helper()
	key, value, err := ingest.EncodeErasure(request, time.Time{})
	require.NoError(r.T, err)
	require.NoError(r.T, r.Client().Write(r.T.Context(), bus.Erasures, []ingest.Outgoing{{Key: key, Value: value}}))
}

// StatusOf returns the published status of a request.
func (r *Running) StatusOf(id string) deletions.Status {
	r.T.Helper()
	s, err := First(requests.Find(r.T.Context(), r.Client(), id))
	require.NoError(r.T, err)
	return s
}

// Outcome waits until a request has ended.
func (r *Running) Outcome(id string) deletions.State {
	r.T.Helper()
	var s deletions.Status
	require.Eventually(r.T, func() bool {
		var err error
		s, err = First(requests.Find(r.T.Context(), r.Client(), id))
		return err == nil && s.State.Final()
	}, WaitFor, Tick)
	return s.State
}

// First is the request that has a name, of all that were submitted under it. Others are rejected, which may be
// published before the first is known.
func First(found []deletions.Status, err error) (deletions.Status, error) {
	if err != nil {
		return deletions.Status{}, err
	}
	taken := func(s deletions.Status) bool { return s.State != deletions.Rejected }
	return found[max(0, slices.IndexFunc(found, taken))], nil
}

// Post asks a running service for a plan.
func (r *Running) Post(body any) (status int, text string) {
	r.T.Helper()
	data, err := json.Marshal(body)
	require.NoError(r.T, err)
	answer := r.Ask(http.MethodPost, "/api/v1/erasures/plan", string(data), "Content-Type", "application/json")
	return answer.StatusCode, answer.Text
}

// Plan is what a running service answers.
func (r *Running) Plan(asked service.PlanRequest) service.Plan {
	r.T.Helper()
	status, text := r.Post(asked)
	require.Equal(r.T, http.StatusOK, status, text)
	var plan service.Plan
	require.NoError(r.T, json.Unmarshal([]byte(text), &plan))
	return plan
}

// Receipt reads and checks the receipt of a request.
func Receipt(t testing.TB, c configs.Config, id string) receipt.Receipt {
	t.Helper()
	signed, err := os.ReadFile(filepath.Join(service.ReceiptsDir(c.DataDir), id+".json"))
	require.NoError(t, err)
	key, err := configs.ReadPublicKey(configs.PublicKeyPath(c.SigningKeyPath()))
	require.NoError(t, err)
	r, verification, err := receipt.Verify(signed, receipt.Pinned(key))
	require.NoError(t, err)
	require.True(t, verification.Valid, "%v", verification.Problems)
	return r
}

// Verified waits until the process knows the requests of the one before.
func Verified(n int) func(*service.Status) bool {
	return func(st *service.Status) bool { return st.Erasures[deletions.Verified] == n }
}
