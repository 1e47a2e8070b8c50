package metrics

import (
	"sync"
	"time"

	"lethe"
	"lethe/metrics/events"
)

// timesteps tracks snapshots and their partitions.
func (f factory) timesteps() events.Listener {
	timestep := f.gauges("lethe_snapshot_timestep",
		"Highest timestep that reached a state, -1 for none yet.", "state")
	build := f.NewHistogram(timing("lethe_snapshot_build_duration_seconds",
		"Time to build the graph of a closed timestep.", stepBuckets()))
	balance := f.gauge("lethe_partition_balance_ratio",
		"Balance of the last partition: 0 is even, lower is worse.")
	fairness := f.gauge("lethe_partition_fairness_ratio",
		"Fairness of the last partition: 0 spreads every class evenly, lower is worse.")
	edgeCut := f.gauge("lethe_partition_edge_cut_ratio",
		"Share of edges that the last partition cut.")
	partition := f.NewHistogram(timing("lethe_partition_duration_seconds",
		"Time to partition a settled timestep.", stepBuckets()))
	var mu sync.Mutex
	highest := make(map[string]lethe.Timestep) // by state
	// The highest timestep is retained, because an erasure may bring an old one to its state again.
	reached := func(state lethe.State, t lethe.Timestep) {
		name := within(state.String(), []string{"open", "closed", "settled"})
		mu.Lock()
		defer mu.Unlock()
		if at, known := highest[name]; !known || t > at {
			highest[name] = t
			timestep.WithLabelValues(name).Set(float64(t))
		}
	}
	for _, state := range []lethe.State{lethe.Open, lethe.Closed, lethe.Settled} {
		reached(state, lethe.NoTimestep)
	}
	return events.Tee(
		events.On(func(e events.SnapshotChanged) {
			reached(e.State, e.Timestep)
			if e.State == lethe.Closed {
				build.Observe(e.Duration.Seconds())
			}
		}),
		events.On(func(e events.SnapshotPartitioned) {
			balance.Set(e.Balance)
			fairness.Set(e.Fairness)
			edgeCut.Set(e.EdgeCut)
			partition.Observe(e.Duration.Seconds())
		}),
	)
}

// successes tracks when each stage last succeeded, which distinguishes a stalled stage from an
// idle one.
func (f factory) successes(now func() time.Time) events.Listener {
	last := f.gauges("lethe_last_success_timestamp_seconds",
		"Unix time at which a stage last finished a piece of work, 0 for not yet.", "stage")
	begin(last, []string{"consume", "build", "partition", "train", "score", "erase"})
	mark := func(stage string) {
		last.WithLabelValues(stage).Set(float64(now().UnixNano()) / float64(time.Second))
	}
	return func(event any) {
		switch e := event.(type) {
		case events.RecordsConsumed:
			mark("consume")
		case events.SnapshotChanged:
			if e.State == lethe.Closed {
				mark("build")
			}
		case events.SnapshotPartitioned:
			mark("partition")
		case events.ShardTrained:
			mark("train")
		case events.SnapshotScored:
			mark("score")
		case events.ErasureChanged:
			if e.State == "verified" {
				mark("erase")
			}
		}
	}
}
