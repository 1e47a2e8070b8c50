package metrics

import (
	"sync"

	"github.com/prometheus/client_golang/prometheus"

	"lethe"
	"lethe/metrics/events"
)

// timestepMetrics tracks snapshots and their partitions.
type timestepMetrics struct {
	mu      sync.Mutex
	highest map[string]lethe.Timestep // by state

	timestep          *prometheus.GaugeVec
	build             prometheus.Histogram
	balance, fairness prometheus.Gauge
	edgeCut           prometheus.Gauge
	partition         prometheus.Histogram
}

func newTimestepMetrics() *timestepMetrics {
	m := &timestepMetrics{
		timestep: gauges("lethe_snapshot_timestep",
			"Highest timestep that reached a state, -1 for none yet.", "state"),
		highest: map[string]lethe.Timestep{},
		build: prometheus.NewHistogram(timing("lethe_snapshot_build_duration_seconds",
			"Time to build the graph of a closed timestep.", stepBuckets())),
		balance: gauge("lethe_partition_balance_ratio",
			"Balance of the last partition: 0 is even, lower is worse."),
		fairness: gauge("lethe_partition_fairness_ratio",
			"Fairness of the last partition: 0 spreads every class evenly, lower is worse."),
		edgeCut: gauge("lethe_partition_edge_cut_ratio",
			"Share of edges that the last partition cut."),
		partition: prometheus.NewHistogram(timing("lethe_partition_duration_seconds",
			"Time to partition a settled timestep.", stepBuckets())),
	}
	for _, state := range []lethe.State{lethe.Open, lethe.Closed, lethe.Settled} {
		m.reached(state, lethe.NoTimestep)
	}
	return m
}

func (m *timestepMetrics) listener() events.Listener {
	return events.Listener{
		SnapshotChanged: func(e events.SnapshotChanged) {
			m.reached(e.State, e.Timestep)
			if e.State == lethe.Closed {
				m.build.Observe(e.Duration.Seconds())
			}
		},
		SnapshotPartitioned: func(e events.SnapshotPartitioned) {
			m.balance.Set(e.Balance)
			m.fairness.Set(e.Fairness)
			m.edgeCut.Set(e.EdgeCut)
			m.partition.Observe(e.Duration.Seconds())
		},
	}
}

// reached retains the highest timestep, because an erasure may bring an old one to its state again.
func (m *timestepMetrics) reached(state lethe.State, timestep lethe.Timestep) {
	name := within(state.String(), []string{"open", "closed", "settled"})
	m.mu.Lock()
	defer m.mu.Unlock()
	if highest, ok := m.highest[name]; ok && timestep <= highest {
		return
	}
	m.highest[name] = timestep
	m.timestep.WithLabelValues(name).Set(float64(timestep))
}

func (m *timestepMetrics) collectors() []prometheus.Collector {
	return []prometheus.Collector{m.timestep, m.build, m.balance, m.fairness, m.edgeCut, m.partition}
}
