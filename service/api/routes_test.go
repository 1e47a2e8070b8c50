package api_test

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lethe/service/api"
	"lethe/service/guard"
)

// The description names every route and no other; newSite requires that it is valid.
func TestEveryRouteIsDescribed(t *testing.T) {
	s := newSite(t)
	var described struct {
		Paths map[string]map[string]any `json:"paths"`
	}
	s.get("/openapi.json", &described)
	var have, want []string
	for path, methods := range described.Paths {
		for method := range methods {
			have = append(have, strings.ToUpper(method)+" "+path)
		}
	}
	for _, route := range api.New(api.Options{}).Routes() {
		want = append(want, route.Method+" "+route.Path)
		require.NotZero(t, route.Needs, "%s needs no right", route.Path)
	}
	slices.Sort(have)
	slices.Sort(want)
	require.Equal(t, want, have)
}

// Only compliance sees and changes what erasures name, and each role no more than it needs.
func TestEveryRouteAsksForItsRight(t *testing.T) {
	for _, route := range api.New(api.Options{}).Routes() {
		want := guard.Read
		switch {
		case strings.HasPrefix(route.Path, "/erasures"), strings.HasPrefix(route.Path, "/holds"):
			want = guard.Erase
		case strings.HasSuffix(route.Path, "/label"):
			want = guard.Judge
		case route.Path == "/dead-letters/replay":
			want = guard.Operate
		case strings.HasPrefix(route.Path, "/dead-letters"):
			want = guard.Investigate
		}
		require.Equal(t, want, route.Needs, "%s %s", route.Method, route.Path)
	}
}

func TestRefusals(t *testing.T) {
	s := newSite(t)
	nobody := "/transactions/" + strings.Repeat("0", 64)
	for _, c := range []struct {
		method, path string
		body         any
		want         int
	}{
		{http.MethodGet, "/predictions?limit=0", nil, http.StatusBadRequest},
		{http.MethodGet, "/predictions?limit=501", nil, http.StatusBadRequest},
		{http.MethodGet, "/predictions?limit=1&limit=2", nil, http.StatusBadRequest},
		{http.MethodGet, "/predictions?min_probability=NaN", nil, http.StatusBadRequest},
		{http.MethodGet, "/predictions?timestep=-1", nil, http.StatusBadRequest},
		{http.MethodGet, "/predictions?cursor=AAAA", nil, http.StatusBadRequest},
		{http.MethodGet, "/predictions?cursor=***", nil, http.StatusBadRequest},
		{http.MethodGet, "/predictions?misspelt=1", nil, http.StatusBadRequest},
		{http.MethodGet, "/timesteps?cursor=AAAA", nil, http.StatusBadRequest},
		{http.MethodGet, nobody, nil, http.StatusNotFound},
		{http.MethodGet, nobody + "/reasons", nil, http.StatusNotFound},
		{http.MethodGet, nobody + "/neighbourhood?distance=4", nil, http.StatusBadRequest},
		{http.MethodGet, "/transactions/short", nil, http.StatusNotFound},
		{http.MethodGet, "/timesteps/seven", nil, http.StatusNotFound},
		{http.MethodGet, "/timesteps/7", nil, http.StatusNotFound},
		{http.MethodGet, "/timesteps/7/shards", nil, http.StatusNotFound},
		{http.MethodGet, "/timesteps/-7/shards", nil, http.StatusNotFound},
		{http.MethodGet, "/quality?threshold=2", nil, http.StatusBadRequest},
		{http.MethodGet, "/quality?budget=0", nil, http.StatusBadRequest},
		{http.MethodGet, "/quality?threshold=0.5&budget=3", nil, http.StatusBadRequest},
		{http.MethodGet, "/ensembles?cursor=AAAA", nil, http.StatusBadRequest},
		{http.MethodGet, "/ensembles/changes?from=1", nil, http.StatusBadRequest},
		{http.MethodGet, "/log/keys", nil, http.StatusNotFound},
		{http.MethodGet, "/erasures/nobody", nil, http.StatusNotFound},
		{http.MethodPost, "/transactions/lookup", map[string]any{"ids": []string{}}, http.StatusBadRequest},
		{http.MethodPost, "/transactions/lookup", map[string]any{"ids": []string{""}}, http.StatusBadRequest},
		{http.MethodPost, "/transactions/lookup", map[string]any{"id": "a"}, http.StatusBadRequest},
		{http.MethodPost, "/transactions/lookup", strings.Repeat("x", 2<<20), http.StatusRequestEntityTooLarge},
		{http.MethodPost, "/transactions/lookup", nil, http.StatusUnsupportedMediaType},
	} {
		require.Equal(t, c.want, s.ask(c.method, c.path, c.body).status, "%s %s", c.method, c.path)
	}
	for path, want := range map[string]string{
		"/alerts?timestep=x": "timestep is not valid: want a whole number from 0",
		"/alerts?limit=501":  "limit is not valid: want a whole number from 1 to 500",
		"/quality?budget=0":  "budget is not valid: want a whole number from 1 to",
	} {
		require.Contains(t, string(s.ask(http.MethodGet, path, nil).body), want)
	}
	lookup := s.ask(http.MethodPost, "/transactions/lookup", map[string]any{"ids": []string{"a", "b c"}})
	require.Contains(t, string(lookup.body), "id 1 is not valid: want 1 to 256 bytes of printable text, without spaces")
	for path, want := range map[string]int{"/nothing": http.StatusNotFound, "/alerts": http.StatusMethodNotAllowed} {
		response, err := http.Post(s.server.URL+api.Prefix+path, "application/json", strings.NewReader("{}"))
		require.NoError(t, err)
		require.NoError(t, response.Body.Close())
		require.Equal(t, want, response.StatusCode)
		require.Equal(t, "application/problem+json", response.Header.Get("Content-Type"))
	}
	s.reader = nil
	require.Equal(t, http.StatusServiceUnavailable, s.ask(http.MethodGet, "/alerts", nil).status)
}

func TestWhatHasNotChangedIsNotSentAgain(t *testing.T) {
	s := newSite(t)
	s.predicted("a", 1, .7)
	var page api.Page[api.Scored]
	first := s.get("/alerts", &page)
	tag := first.header.Get("ETag")
	require.NotEmpty(t, tag)
	again := s.ask(http.MethodGet, "/alerts", nil, "If-None-Match", `"other", `+tag)
	require.Equal(t, http.StatusNotModified, again.status)
	s.predicted("b", 1, .8)
	require.Equal(t, http.StatusOK, s.ask(http.MethodGet, "/alerts", nil, "If-None-Match", tag).status)
}

// Whoever waits is told that something has changed, and nothing of what it is.
func TestChangesAreTold(t *testing.T) {
	s := newSite(t)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, s.server.URL+api.Prefix+"/events", nil)
	require.NoError(t, err)
	response, err := http.DefaultClient.Do(request)
	require.NoError(t, err)
	defer response.Body.Close()
	require.Equal(t, "text/event-stream", response.Header.Get("Content-Type"))
	var told strings.Builder
	await := func(what string) {
		buffer := make([]byte, 512)
		for !strings.Contains(told.String(), what) {
			n, err := response.Body.Read(buffer)
			told.Write(buffer[:n])
			require.NoError(t, err, "%q", told.String())
		}
	}
	await("event: changes\ndata: {}\n\n")
	s.predicted("somebody", 1, .7)
	await(`data: {"predictions":1}`)
	require.NotContains(t, told.String(), "somebody")
}
