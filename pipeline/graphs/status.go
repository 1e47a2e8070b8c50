package graphs

import (
	"maps"
	"time"

	"lethe"
	"lethe/deletions/coordinator"
	"lethe/ingest/bus"
	"lethe/pipeline/graphs/intake"
	"lethe/pipeline/graphs/timesteps"
	"lethe/pipeline/role"
	"lethe/snapshot"
)

// progress tracks how far the source topics have been read.
type progress struct {
	// newest is the time of the latest record of each source partition.
	newest map[bus.TopicPartition]time.Time
	// requestsRead are the read offsets of erasures.v1.
	requestsRead map[bus.TopicPartition]int64
}

// read records a batch of a source topic.
func (p progress) read(batch bus.Batch) {
	if batch.Source.Topic == bus.Erasures {
		p.requestsRead[batch.Source] = batch.Next
	} else if n := len(batch.Records); n > 0 {
		p.newest[batch.Source] = batch.Records[n-1].Time
	}
}

// status combines timesteps, requests by state and consumed offsets.
func (p progress) status(in *intake.Intake, timesteps *timesteps.Lifecycle, c *coordinator.Coordinator) *role.Status {
	s := &role.Status{
		Steps: make(map[lethe.Timestep]role.Step), Erasures: c.Counts(),
		Waits:    c.Waits(),
		Consumed: make(map[bus.TopicPartition]int64), FeatureCount: in.Store.Marks().FeatureCount(),
		Watermarks: make(map[bus.TopicPartition]lethe.Timestep), Newest: maps.Clone(p.newest),
	}
	for topic, stream := range map[bus.Topic]snapshot.Stream{
		bus.Transactions: snapshot.Transactions, bus.Labels: snapshot.Labels,
	} {
		for p, watermark := range in.Store.Marks().Watermarks(stream) {
			s.Watermarks[bus.TopicPartition{Topic: topic, Partition: p}] = watermark
		}
	}
	for at, next := range in.Store.Offsets() {
		s.Consumed[bus.TopicPartition{Topic: bus.Topic(at.Topic), Partition: at.Partition}] = next
	}
	// A restart resumes at the oldest request whose targets are needed, which is before the read offset.
	maps.Copy(s.Consumed, p.requestsRead)
	for _, info := range in.Store.Timesteps() {
		s.Steps[info.Timestep] = role.Step{
			State: timesteps.State(info), Nodes: info.Nodes, Payments: info.Payments, Labels: info.Labels,
		}
	}
	return s
}
