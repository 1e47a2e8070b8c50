package service_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lethe/deletions"
	"lethe/ingest"
	"lethe/ingest/bus"
	"lethe/pipeline/view"
	"lethe/scoring/reasons"
	"lethe/service"
	"lethe/service/api"
	"lethe/service/api/apitest"
	"lethe/service/guard"
	"lethe/service/servicetest"
)

// caller asks the API of a service, and compares every answer with its description.
type caller struct {
	*running
	checks *apitest.Description
}

func callerOf(r *running) caller {
	checks, err := apitest.Read(api.Description())
	require.NoError(r.T, err)
	return caller{r, checks}
}

// ask returns the status and, if into is not nil, reads the answer.
func (c caller) ask(method, path string, body, into any) int {
	c.T.Helper()
	sent, kind := "", ""
	if body != nil {
		text, err := json.Marshal(body)
		require.NoError(c.T, err)
		sent, kind = string(text), "application/json"
	}
	answer := c.Ask(method, api.Prefix+path, sent, "Content-Type", kind)
	got := []byte(answer.Text)
	require.NoError(c.T, c.checks.Response(answer.Request, answer.Response, got),
		"%s %s answers %.2000s", method, path, got)
	if into != nil && answer.StatusCode == http.StatusOK {
		require.NoError(c.T, json.Unmarshal(got, into))
	}
	return answer.StatusCode
}

func (c caller) get(path string, into any) {
	c.T.Helper()
	require.Equal(c.T, http.StatusOK, c.ask(http.MethodGet, path, nil, into), path)
}

// What a running service answers is as described, an erasure that is asked for there is carried
// out, and what is erased is not answered with any more.
func TestTheAPIOfARunningService(t *testing.T) {
	t.Parallel()
	stream := servicetest.SmallStream(t, 5, 60, 17)
	config := servicetest.SmallStack(t, t.TempDir())
	config.Ingest.ReopenWindow = 300 * time.Millisecond
	s := start(t, config)
	s.Replay(stream)
	c := callerOf(s)
	var status service.Status
	c.get("/status", &status)
	var page api.Page[api.Scored]
	s.Await(func(st *service.Status) bool {
		c.get("/predictions?limit=500", &page)
		return len(page.Items) == st.Predictions && page.Items[0].Final
	})
	require.Len(t, page.Items, status.Predictions)
	var alerts api.Page[api.Scored]
	c.get("/alerts", &alerts)
	require.NotEmpty(t, alerts.Items)
	require.Equal(t, page.Items[0], alerts.Items[0])
	top := alerts.Items[0]
	at := "/transactions/" + top.Ref.String()
	c.get(at, nil)
	c.get(at+"/neighbourhood?distance=2", nil)
	var why reasons.Record
	s.Await(func(*service.Status) bool { return c.ask(http.MethodGet, at+"/reasons", nil, &why) == http.StatusOK })
	require.Equal(t, top.Transaction, why.Transaction)
	var steps api.Page[*view.Step]
	c.get("/timesteps", &steps)
	require.Len(t, steps.Items, 5)
	for _, known := range status.Steps {
		for _, step := range steps.Items {
			if step.Timestep != known.Timestep || known.Quality == nil {
				continue
			}
			require.NotNil(t, step.Quality)
			require.Equal(t, *known.Quality, step.Quality.Summary, "what score and view measure of timestep %d", step.Timestep)
			require.Equal(t, known.Predictions, step.Predictions)
		}
	}
	c.get("/timesteps/3", nil)
	var dealt view.Partitioning
	c.get("/timesteps/3/shards", &dealt)
	require.Len(t, dealt.Shards, config.Partition.Shards)
	var outcome view.Outcome
	c.get("/quality", &outcome)
	require.Positive(t, outcome.Labelled)
	c.get("/quality?budget=5", nil)
	var ensembles api.Page[view.Ensemble]
	c.get("/ensembles", &ensembles)
	require.NotEmpty(t, ensembles.Items)
	c.get(fmt.Sprintf("/ensembles/changes?from=2&to=%d", ensembles.Items[0].Through), nil)
	var keys api.KeysAnswer
	c.get("/log/keys", &keys)
	require.Len(t, keys.Keys, 1)

	// What an analyst says is the label of a transaction.
	const verdict = "illicit"
	judged := "/transactions/" + page.Items[len(page.Items)-1].Ref.String()
	require.Equal(t, http.StatusOK, c.ask(http.MethodPost, judged+"/label", api.LabelRequest{Label: verdict}, nil))
	s.Await(func(*service.Status) bool {
		var of view.Transaction
		c.get(judged, &of)
		return of.Label == verdict
	})

	// A dead letter.
	require.NoError(t, s.Client().Write(t.Context(), bus.Transactions, []ingest.Outgoing{{
		Key: []byte("broken"), Value: []byte(`{"type":"transaction","id":"broken","timestep":"soon"}`),
	}}))
	var letters api.Page[view.Letter]
	s.Await(func(*service.Status) bool {
		c.get("/dead-letters", &letters)
		return len(letters.Items) == 1
	})
	c.get("/dead-letters/"+letters.Items[0].Place, nil)
	var replayed api.ReplayAnswer
	require.Equal(t, http.StatusOK, c.ask(http.MethodPost, "/dead-letters/replay",
		api.ReplayRequest{Places: []string{letters.Items[0].Place}}, &replayed))
	require.Zero(t, replayed.Sent, "it would be rejected again")
	require.Len(t, replayed.Refused, 1)
	require.Equal(t, http.StatusNotFound, c.ask(http.MethodPost, "/dead-letters/replay",
		api.ReplayRequest{Places: []string{"labels.v1/0/99"}}, nil))

	// An erasure.
	require.Equal(t, http.StatusOK, c.ask(http.MethodPost, "/erasures/plan",
		service.PlanRequest{Nodes: []string{string(top.Transaction)}}, nil))
	asked := api.ErasureRequest{RequestID: "gdpr-17", Nodes: []string{string(top.Transaction)}, Reason: "Art. 17"}
	require.Equal(t, http.StatusOK, c.ask(http.MethodPost, "/erasures", asked, nil))
	require.Equal(t, http.StatusBadRequest, c.ask(http.MethodPost, "/erasures", api.ErasureRequest{}, nil))
	require.Equal(t, http.StatusBadRequest, c.ask(http.MethodPost, "/erasures",
		api.ErasureRequest{Nodes: []string{"a"}, Scope: "galaxy"}, nil))
	var said deletions.Report
	s.Await(func(*service.Status) bool {
		return c.ask(http.MethodGet, "/erasures/gdpr-17", nil, &said) == http.StatusOK && said.State == deletions.Verified
	})
	// V25: the same again is the same request, and the name is refused to another one.
	var again api.Submitted
	require.Equal(t, http.StatusOK, c.ask(http.MethodPost, "/erasures", asked, &again))
	require.Equal(t, said.RequestDigest, again.RequestDigest)
	for _, other := range []api.ErasureRequest{
		{RequestID: "gdpr-17", Nodes: []string{"another"}}, {RequestID: "gdpr-17", Nodes: asked.Nodes, Scope: "shard"},
	} {
		require.Equal(t, http.StatusConflict, c.ask(http.MethodPost, "/erasures", other, nil))
	}
	// One that the process cannot know to be another is rejected, on a page of its own.
	asked.Reason = "another reason"
	require.Equal(t, http.StatusOK, c.ask(http.MethodPost, "/erasures", asked, &again))
	require.NotEqual(t, said.RequestDigest, again.RequestDigest)
	s.Await(func(*service.Status) bool {
		var rejected api.Erasure
		return c.ask(http.MethodGet, "/erasures/"+again.RequestDigest.String(), nil, &rejected) == http.StatusOK &&
			rejected.Summary == "rejected: request_id_conflict"
	})
	c.get("/erasures/gdpr-17", &said)
	require.Equal(t, deletions.Verified, said.State)
	c.get("/erasures", nil)
	require.Equal(t, http.StatusNotFound, c.ask(http.MethodGet, at, nil, nil))
	require.Equal(t, http.StatusConflict, c.ask(http.MethodPost, "/erasures/gdpr-17/cancel", nil, nil))
	require.Equal(t, http.StatusNotFound, c.ask(http.MethodPost, "/erasures/nobody/cancel", nil, nil))
	s.Await(func(*service.Status) bool {
		return c.ask(http.MethodGet, "/erasures/gdpr-17/receipt", nil, nil) == http.StatusOK
	})
	var log api.LogAnswer
	c.get("/log", &log)
	c.get("/log/leaves", nil)
	s.Await(func(*service.Status) bool {
		return c.ask(http.MethodGet, fmt.Sprintf("/log/leaves/%d/proof", log.Size-1), nil, nil) == http.StatusOK
	})
	s.Stop()
	content := servicetest.Receipt(t, config, "gdpr-17")
	places := make(map[string]bool)
	for _, p := range content.Searched {
		places[p.Place] = true
	}
	require.True(t, places["view"], "the receipt says that the view was searched")
}

// Whoever has no token, or one whose role may not do something, is refused; health checks need
// none.
func TestTokensAtTheDoor(t *testing.T) {
	t.Parallel()
	c := servicetest.SmallConfig(t, t.TempDir())
	tokens := people(t, &c, guard.Roles()...)
	s := start(t, c)
	ask := func(method, path, token string) int {
		response := s.Ask(method, path, "", "Authorization", servicetest.Bearer(token))
		return response.StatusCode
	}
	for _, path := range []string{"/livez", "/readyz", "/metrics"} {
		require.Eventually(t, func() bool { return ask(http.MethodGet, path, "") == http.StatusOK },
			20*time.Second, 20*time.Millisecond, path)
	}
	for _, path := range []string{"/api/v1/status", "/api/v1/alerts", "/api/v1/erasures", "/api/v1/nothing"} {
		require.Equal(t, http.StatusUnauthorized, ask(http.MethodGet, path, ""), path)
		require.Equal(t, http.StatusUnauthorized, ask(http.MethodGet, path, "lethe_guess"), path)
	}
	for role, token := range tokens {
		require.Equal(t, http.StatusOK, ask(http.MethodGet, "/api/v1/alerts", token), role)
		erasures, dead, replay := http.StatusForbidden, http.StatusForbidden, http.StatusForbidden
		switch role {
		case "compliance":
			erasures = http.StatusOK
		case "analyst":
			dead = http.StatusOK
		case "admin":
			dead, replay = http.StatusOK, http.StatusUnsupportedMediaType
		}
		require.Equal(t, erasures, ask(http.MethodGet, "/api/v1/erasures", token), role)
		require.Equal(t, dead, ask(http.MethodGet, "/api/v1/dead-letters", token), role)
		require.Equal(t, replay, ask(http.MethodPost, "/api/v1/dead-letters/replay", token), role)
	}
	// Whether something was erased is not told to those who may not see erasures: it is as if it
	// had never come.
	nobody := "/api/v1/transactions/" + strings.Repeat("a", 64)
	require.Equal(t, http.StatusNotFound, ask(http.MethodGet, nobody, tokens["viewer"]))
}
