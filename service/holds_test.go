package service_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lethe/deletions"
	"lethe/service"
	"lethe/service/api"
)

// V29: a hold is set, seen and lifted through the API; a request, and a plan, wait for it meanwhile.
func TestHolds_API(t *testing.T) {
	t.Parallel()
	c := impatient(t)
	r := start(t, c)
	ask := r.caller(t)
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
