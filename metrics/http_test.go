package metrics_test

import (
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"lethe/metrics"
)

func get(h http.Handler, method, accept string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, "/", nil)
	r.Header.Set("Accept", accept)
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

func requireAnswer(t *testing.T, h http.Handler, code int, body string) {
	t.Helper()
	w := get(h, http.MethodGet, "")
	require.Equal(t, code, w.Code)
	require.Equal(t, body, w.Body.String())
}

func TestHealthFromStartToEnd(t *testing.T) {
	h := metrics.NewHealth("build", "broker")
	requireAnswer(t, h.LiveHandler(), 200, "ok\n")
	requireAnswer(t, h.ReadyHandler(), 503, "broker: not ok: starting\nbuild: not ok: starting\nnot ok\n")
	require.False(t, h.Ready())

	h.Set("build", true, "this is not shown")
	h.Set("broker", false, "")
	requireAnswer(t, h.ReadyHandler(), 503, "broker: not ok: no reason given\nbuild: ok\nnot ok\n")

	h.Set("broker", true, "")
	requireAnswer(t, h.ReadyHandler(), 200, "broker: ok\nbuild: ok\nok\n")
	require.True(t, h.Ready())

	h.Set("broker", false, "cannot be reached")
	requireAnswer(t, h.LiveHandler(), 200, "ok\n")

	h.Fail("build", "store is corrupt")
	h.Set("build", true, "")
	h.Set("broker", true, "")
	requireAnswer(t, h.LiveHandler(), 503, "build: not ok: store is corrupt\nnot ok\n")
	requireAnswer(t, h.ReadyHandler(), 503, "broker: ok\nbuild: not ok: store is corrupt\nnot ok\n")
	require.False(t, h.Ready(), "what has failed cannot become ready")
}

func TestHealthWithoutComponentsIsReady(t *testing.T) {
	requireAnswer(t, metrics.NewHealth().ReadyHandler(), 200, "ok\n")
}

func TestHealthTakesOnlyReads(t *testing.T) {
	h := metrics.NewHealth()
	require.Equal(t, http.StatusOK, get(h.LiveHandler(), http.MethodHead, "").Code)
	w := get(h.LiveHandler(), http.MethodPost, "")
	require.Equal(t, http.StatusMethodNotAllowed, w.Code)
	require.Equal(t, "GET, HEAD", w.Header().Get("Allow"))
}

func TestHealthFromManyGoroutines(t *testing.T) {
	h := metrics.NewHealth("a", "b")
	var wait sync.WaitGroup
	for i := range 50 {
		wait.Go(func() {
			h.Set("a", i%2 == 0, "odd")
			get(h.ReadyHandler(), http.MethodGet, "")
		})
	}
	wait.Wait()
	h.Set("a", true, "")
	h.Set("b", true, "")
	require.True(t, h.Ready())
}

func TestHandlerSpeaksBothFormats(t *testing.T) {
	p := newProcess(t)
	h := metrics.Handler(p.registry)
	plain := get(h, http.MethodGet, "text/plain")
	require.Equal(t, 200, plain.Code)
	require.Contains(t, plain.Header().Get("Content-Type"), "text/plain")
	require.Contains(t, plain.Body.String(), "\nlethe_build_info{")
	open := get(h, http.MethodGet, "application/openmetrics-text; version=1.0.0")
	require.Contains(t, open.Header().Get("Content-Type"), "application/openmetrics-text")
	require.Contains(t, open.Body.String(), "# EOF")
}

func TestRegistryKnowsTheProcess(t *testing.T) {
	registry := metrics.NewRegistry()
	families, err := registry.Gather()
	require.NoError(t, err)
	names := make([]string, 0, len(families))
	for _, f := range families {
		names = append(names, f.GetName())
	}
	require.Contains(t, names, "go_goroutines")
}
