package service

import (
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/require"

	"lethe/metrics"
	"lethe/metrics/events"
)

// A disk that takes no writes is told where operators look: by the health checks and to whoever makes metrics.
func TestADiskThatTakesNoWritesIsTold(t *testing.T) {
	var waiting []int
	health := metrics.NewHealth()
	note := func(e events.DiskChanged) { waiting = append(waiting, e.Paths) }
	o := newOutages(health, events.Listener{DiskChanged: note}, slog.New(slog.DiscardHandler))
	ready := func() string {
		w := httptest.NewRecorder()
		health.ReadyHandler().ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/readyz", http.NoBody))
		return w.Body.String()
	}
	require.Contains(t, ready(), "disk: ok")
	o.watchDisk("b", errors.New("write b: full"))
	require.Contains(t, ready(), "disk: not ok: it takes no writes, which wait: write b: full\n")
	o.watchDisk("a", errors.New("write a: full"))
	require.Contains(t, ready(), "disk: not ok: it takes no writes, which wait: write a: full (and 1 more)\n")
	o.watchDisk("a", nil)
	o.watchDisk("b", nil)
	require.Contains(t, ready(), "disk: ok")
	require.Equal(t, []int{0, 1, 2, 1, 0}, waiting)
}
