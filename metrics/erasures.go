package metrics

import (
	"slices"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"lethe/metrics/events"
)

// erasureMetrics tracks erasure requests.
type erasureMetrics struct {
	requests       *prometheus.CounterVec
	results        *prometheus.CounterVec
	open           prometheus.Gauge
	overdue        prometheus.Gauge
	oldestReceived atomic.Pointer[time.Time] // nil if none is open
	oldestAge      prometheus.GaugeFunc
	duration       *prometheus.HistogramVec
	elapsed        *prometheus.HistogramVec
	failures       prometheus.Counter
}

func newErasureMetrics(now func() time.Time) *erasureMetrics {
	m := &erasureMetrics{
		requests: counters("lethe_erasure_requests_total",
			"Times that an erasure request entered a state.", "state", events.ErasureStates()),
		results: counters("lethe_erasure_results_total",
			"Verified erasure requests by what they found: nothing_held erased nothing.", "result", events.ErasureResults()),
		open: gauge("lethe_erasure_open_requests",
			"Erasure requests that are neither verified nor rejected nor cancelled."),
		overdue: gauge("lethe_erasure_overdue",
			"Open erasure requests whose deadline has passed."),
		duration: prometheus.NewHistogramVec(timing("lethe_erasure_duration_seconds",
			"Time that an erasure took, by phase; whole is from receipt to end.", erasureBuckets()), []string{"phase"}),
		elapsed: prometheus.NewHistogramVec(timing("lethe_erasure_elapsed_seconds",
			"Time from the receipt of an erasure request to a state: suppressed, swapped, erased or verified.",
			erasureBuckets()), []string{"state"}),
		failures: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "lethe_erasure_verification_failures_total",
			Help: "Verifications that still found something of an erased subject when their time was up.",
		}),
	}
	// Computed when scraped, so that it increases between events.
	m.oldestAge = prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "lethe_erasure_oldest_open_age_seconds",
		Help: "Time since the oldest open erasure request was received, 0 if none is open.",
	}, func() float64 {
		received := m.oldestReceived.Load()
		if received == nil {
			return 0
		}
		return max(0, now().Sub(*received).Seconds())
	})
	for _, phase := range texts(events.ErasurePhases()) {
		m.duration.WithLabelValues(phase)
	}
	for _, state := range events.ErasureMilestones() {
		m.elapsed.WithLabelValues(state)
	}
	return m
}

func (m *erasureMetrics) listener() events.Listener {
	return events.Listener{
		ErasureChanged: func(e events.ErasureChanged) {
			m.requests.WithLabelValues(within(e.State, events.ErasureStates())).Inc()
			if e.Result != "" {
				m.results.WithLabelValues(within(e.Result, events.ErasureResults())).Inc()
			}
			if slices.Contains(events.ErasureMilestones(), e.State) {
				m.elapsed.WithLabelValues(e.State).Observe(e.Elapsed.Seconds())
			}
		},
		ErasurePhaseDone: func(e events.ErasurePhaseDone) {
			phase := within(string(e.Phase), texts(events.ErasurePhases()))
			m.duration.WithLabelValues(phase).Observe(e.Duration.Seconds())
		},
		ErasureVerificationFailed: func(events.ErasureVerificationFailed) { m.failures.Inc() },
		ErasuresOpen: func(e events.ErasuresOpen) {
			m.open.Set(float64(e.Count))
			m.overdue.Set(float64(e.Overdue))
			if e.Count == 0 || e.OldestReceived.IsZero() {
				m.oldestReceived.Store(nil)
				return
			}
			m.oldestReceived.Store(&e.OldestReceived)
		},
	}
}

func (m *erasureMetrics) collectors() []prometheus.Collector {
	return []prometheus.Collector{m.requests, m.results, m.open, m.overdue, m.oldestAge, m.duration, m.elapsed, m.failures}
}
