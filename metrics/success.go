package metrics

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"lethe"
	"lethe/metrics/events"
)

// successMetrics tracks when each stage last succeeded, which distinguishes a stalled stage from an
// idle one.
type successMetrics struct {
	now  func() time.Time
	last *prometheus.GaugeVec
}

// The stages, in the order of the flow.
const (
	stageConsume   = "consume"
	stageBuild     = "build"
	stagePartition = "partition"
	stageTrain     = "train"
	stageScore     = "score"
	stageErase     = "erase"
)

func newSuccessMetrics(now func() time.Time) *successMetrics {
	m := &successMetrics{now: now, last: gauges("lethe_last_success_timestamp_seconds",
		"Unix time at which a stage last finished a piece of work, 0 for not yet.", "stage")}
	for _, stage := range []string{stageConsume, stageBuild, stagePartition, stageTrain, stageScore, stageErase} {
		m.last.WithLabelValues(stage)
	}
	return m
}

func (m *successMetrics) listener() events.Listener {
	return events.Listener{
		RecordsConsumed: func(events.RecordsConsumed) { m.mark(stageConsume) },
		SnapshotChanged: func(e events.SnapshotChanged) {
			if e.State == lethe.Closed {
				m.mark(stageBuild)
			}
		},
		SnapshotPartitioned: func(events.SnapshotPartitioned) { m.mark(stagePartition) },
		ShardTrained:        func(events.ShardTrained) { m.mark(stageTrain) },
		SnapshotScored:      func(events.SnapshotScored) { m.mark(stageScore) },
		ErasureChanged: func(e events.ErasureChanged) {
			if e.State == "verified" {
				m.mark(stageErase)
			}
		},
	}
}

func (m *successMetrics) mark(stage string) {
	m.last.WithLabelValues(stage).Set(float64(m.now().UnixNano()) / float64(time.Second))
}

func (m *successMetrics) collectors() []prometheus.Collector {
	return []prometheus.Collector{m.last}
}
