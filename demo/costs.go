package demo

import (
	"sync"
	"time"

	"lethe/deletions"
	"lethe/internal/cputime"
	"lethe/metrics/events"
)

// Costs are what an erasure took, in seconds since the request was sent: until
// nothing about the record left any more, until the models forgot it, until every
// place that held it was written anew and searched, until everything was searched.
type Costs struct {
	SecondsSuppressed float64 `json:"seconds_suppressed"`
	SecondsSwapped    float64 `json:"seconds_swapped"`
	SecondsErased     float64 `json:"seconds_erased"`
	SecondsVerified   float64 `json:"seconds_verified"`
	// CPUSecondsSwapped is the processor time of the process until the models
	// forgot, CPUSecondsRetrainAll that of training every model anew.
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

// begin notes that a request is about to be sent, and returns when.
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

// listener follows the states that the request comes into.
func (m *costMeter) listener() events.Listener {
	return events.Listener{ErasureChanged: func(e events.ErasureChanged) {
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
	}}
}
