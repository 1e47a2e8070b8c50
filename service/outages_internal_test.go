package service

import (
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/require"

	"lethe/ingest/bus"
	"lethe/metrics"
	"lethe/metrics/events"
)

// A disk that takes no writes is told where operators look: by the health checks and to whoever makes metrics.
func TestADiskThatTakesNoWritesIsTold(t *testing.T) {
	var waiting []int
	health := metrics.NewHealth()
	note := func(e events.DiskChanged) { waiting = append(waiting, e.Paths) }
	o := newOutages(health, events.On(note), slog.New(slog.DiscardHandler))
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

// A position past the end of a partition is a fault of the topic, which only an operator mends: brokers serve the
// partition, so that none of them is waited for.
func TestAPositionPastTheEndIsAFaultOfTheTopic(t *testing.T) {
	o := newOutages(metrics.NewHealth(), nil, slog.New(slog.DiscardHandler))
	o.watch("labels.v1/1", bus.ErrUnknownTopic)
	o.watch("labels.v1/1", bus.PastEnd(0))
	o.watch("labels.v1/1", bus.ErrAbandoned)
	places, topics, _ := o.facts()
	require.Empty(t, places)
	require.Equal(t, []string{"labels.v1/1: " + bus.PastEnd(0).Error()}, topics)
}
