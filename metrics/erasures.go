package metrics

import (
	"slices"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"lethe/metrics/events"
)

// erasures tracks the progress of erasure requests.
func (f factory) erasures() events.Listener {
	requests := f.counters("lethe_erasure_requests_total",
		"Times that an erasure request entered a state.", "state")
	begin(requests, events.ErasureStates())
	results := f.counters("lethe_erasure_results_total",
		"Verified erasure requests by what they found: nothing_held erased nothing.", "result")
	begin(results, events.ErasureResults())
	duration := f.NewHistogramVec(timing("lethe_erasure_duration_seconds",
		"Time that an erasure took, by phase; whole is from receipt to end.", erasureBuckets()), []string{"phase"})
	begin(duration, events.ErasurePhases())
	elapsed := f.NewHistogramVec(timing("lethe_erasure_elapsed_seconds",
		"Time from the receipt of an erasure request to a state: suppressed, swapped, erased or verified.",
		erasureBuckets()), []string{"state"})
	begin(elapsed, events.ErasureMilestones())
	failures := f.NewCounter(prometheus.CounterOpts{
		Name: "lethe_erasure_verification_failures_total",
		Help: "Verifications that still found something of an erased subject when their time was up.",
	})
	return events.Tee(
		events.On(func(e events.ErasureChanged) {
			requests.WithLabelValues(within(e.State, events.ErasureStates())).Inc()
			if e.Result != "" {
				results.WithLabelValues(within(e.Result, events.ErasureResults())).Inc()
			}
			if slices.Contains(events.ErasureMilestones(), e.State) {
				elapsed.WithLabelValues(e.State).Observe(e.Elapsed.Seconds())
			}
		}),
		events.On(func(e events.ErasurePhaseDone) {
			duration.WithLabelValues(within(e.Phase, events.ErasurePhases())).Observe(e.Duration.Seconds())
		}),
		events.On(func(events.ErasureVerificationFailed) { failures.Inc() }),
	)
}

// openErasures tracks the requests that have not ended.
func (f factory) openErasures(now func() time.Time) events.Listener {
	open := f.gauge("lethe_erasure_open_requests",
		"Erasure requests that are neither verified nor rejected nor cancelled.")
	overdue := f.gauge("lethe_erasure_overdue",
		"Open erasure requests whose deadline has passed.")
	var oldest atomic.Pointer[time.Time] // when it was received; nil if none is open
	// Computed when scraped, so that it increases between events.
	f.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "lethe_erasure_oldest_open_age_seconds",
		Help: "Time since the oldest open erasure request was received, 0 if none is open.",
	}, func() float64 {
		received := oldest.Load()
		if received == nil {
			return 0
		}
		return max(0, now().Sub(*received).Seconds())
	})
	return events.On(func(e events.ErasuresOpen) {
		open.Set(float64(e.Count))
		overdue.Set(float64(e.Overdue))
		if e.Count == 0 || e.OldestReceived.IsZero() {
			oldest.Store(nil)
			return
		}
		oldest.Store(&e.OldestReceived)
	})
}
