package graphs

import (
	"lethe"
	"lethe/ingest/bus"
	"lethe/pipeline/role"
)

// Name implements role.Role.
func (r *Role) Name() string { return "build" }

// Status implements role.Role: the timesteps, the requests by state and how far
// the source topics have been consumed.
func (r *Role) Status() *role.Status { return r.status.Load() }

// publishStatus makes the present state the one that Status returns.
func (r *Role) publishStatus() {
	s := &role.Status{
		Steps: make(map[lethe.Timestep]role.Step), Erasures: r.coordinator.Counts(), Consumed: make(map[bus.TopicPartition]int64),
	}
	for at, next := range r.store.Offsets() {
		s.Consumed[bus.TopicPartition{Topic: bus.Topic(at.Topic), Partition: at.Partition}] = next
	}
	for _, info := range r.store.Timesteps() {
		s.Steps[info.Timestep] = role.Step{
			State: info.State, Nodes: info.Nodes, Payments: info.Payments, Labels: info.Labels,
		}
	}
	r.status.Store(s)
}
