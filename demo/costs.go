package demo

import (
	"sync"
	"time"

	"lethe/deletions"
	"lethe/internal/cputime"
	"lethe/metrics/events"
)

// Costs are the durations of an erasure, in seconds since the request was sent: until nothing about
// the record was published any more, until the models no longer depended on it, until every store
// that held it was rewritten and searched, until everything was searched.
type Costs struct {
	SecondsSuppressed float64 `json:"seconds_suppressed"`
	SecondsSwapped    float64 `json:"seconds_swapped"`
	SecondsErased     float64 `json:"seconds_erased"`
	SecondsVerified   float64 `json:"seconds_verified"`
	// CPUSecondsSwapped is the processor time of the process until the models were swapped,
	// CPUSecondsRetrainAll that of retraining every model.
	CPUSecondsSwapped    float64 `json:"cpu_seconds_swapped"`
	CPUSecondsRetrainAll float64 `json:"cpu_seconds_retrain_all"`
}

// costMeter measures one erasure.
type costMeter struct {
	mu      sync.Mutex
	started time.Time
	used    time.Duration
	now     Costs
}

// begin records that a request is about to be sent, and returns the time.
func (m *costMeter) begin() time.Time {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.started, m.used, m.now = time.Now(), cputime.Used(), Costs{}
	return m.started
}

func (m *costMeter) costs() Costs {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.now
}

// listener tracks the states of the request.
func (m *costMeter) listener() events.Listener {
	return events.On(func(e events.ErasureChanged) {
		m.mu.Lock()
		defer m.mu.Unlock()
		seconds := time.Since(m.started).Seconds()
		switch deletions.State(e.State) {
		case deletions.Suppressed:
			m.now.SecondsSuppressed = seconds
		case deletions.Swapped:
			m.now.SecondsSwapped, m.now.CPUSecondsSwapped = seconds, (cputime.Used() - m.used).Seconds()
		case deletions.Erased:
			m.now.SecondsErased = seconds
		case deletions.Verified:
			m.now.SecondsVerified = seconds
		default:
		}
	})
}
