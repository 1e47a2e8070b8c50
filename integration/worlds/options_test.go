package worlds

import (
	"time"

	"lethe"
	"lethe/deletions/coordinator"
	"lethe/ingest"
	"lethe/ingest/bus"
	"lethe/metrics/events"
	"lethe/pipeline/graphs"
	"lethe/pipeline/score"
	"lethe/trainer/kernels"
)

// graphsOptions are those of the role that builds graphs and carries out erasures.
func (d *deployment) graphsOptions(folder, receipts string) graphs.Options {
	around := d.around()
	listener := events.On(func(e events.RecordsConsumed) {
		if e.Result != events.Ignored { // tombstones
			if e.Topic != string(bus.Erasures) { // the world without the targets has no requests
				d.taken[e.Topic+" "+string(e.Result)] += e.Count
			}
		}
	})
	return graphs.Options{
		FS: d.disk, Dir: folder, ReceiptsDir: receipts, Snapshot: d.config, Limits: ingest.DefaultLimits(),
		Secret: secret, Bus: d.topics, Clock: d.clock, Version: "worlds", Compact: d.compact,
		Logger: around.Logger, Listener: listener, Partition: smallCut(d.independent), Repair: repairConfig(d.oneHop),
		Beside: func(run func()) { d.searches = append(d.searches, search{run, d.patience, nil}) },
		Erasure: coordinator.Config{
			SigningKey: signingKey, KernelSet: "worlds", Deployment: secret.Deployment("worlds."),
			VerifyTimeout: 5 * time.Minute, DefaultScope: lethe.ScopeStubs, BatchWindow: d.window,
		},
	}
}

// scoreOptions are those of the role that scores.
func (d *deployment) scoreOptions(folder, instance string) score.Options {
	return score.Options{
		Dir: folder, Layout: d.models.layout, Meta: d.models.over, Workers: 1, Scoring: d.models.scoring,
		Kernels: kernels.Default(), Secret: secret, Instance: instance, OneHop: d.oneHop, Surroundings: d.around(),
		Limits: ingest.DefaultLimits(), FirstTimestep: d.config.FirstTimestep, MaxTimestepJump: d.config.MaxTimestepJump,
	}
}

// compact is the cleaner of the topics, which leaves what comes from producers until it
// was read: of a record that is taken and a broken one under its key compaction keeps
// the broken one, and which of them count must not depend on when it runs.
func (d *deployment) compact() error {
	return d.topics.CompactBelow(d.consumed())
}

// consumed is up to where all that build graphs have read what comes from producers.
func (d *deployment) consumed() map[bus.TopicPartition]int64 {
	all := d.running()
	var read []map[bus.TopicPartition]int64
	for _, r := range all {
		if at := r.follower.Status().Consumed; at != nil {
			read = append(read, at)
		}
	}
	due := d.group(ofGraphs).size()
	if d.absent()[ofGraphs] {
		due-- // nobody knows of it
	}
	missing := len(read) < max(1, due)
	out := make(map[bus.TopicPartition]int64)
	for topic, count := range partitions {
		for p := range count {
			tp := bus.TopicPartition{Topic: topic, Partition: p}
			if topic != bus.Transactions && topic != bus.Labels {
				continue
			}
			for i, at := range read {
				if i == 0 || at[tp] < out[tp] {
					out[tp] = at[tp]
				}
			}
			if missing {
				out[tp] = 0
			}
		}
	}
	return out
}
