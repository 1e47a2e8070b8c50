package graphs

import (
	"lethe"
	"lethe/deletions"
	"lethe/ingest/bus"
)

// Status is what the role says of itself.
type Status struct {
	Open, Closed, Settled int
	// Transactions counts those in graphs and in open timesteps.
	Transactions int
	// Erasures counts the requests by state.
	Erasures map[deletions.State]int
	Steps    []StepStatus
	// Offsets say how far the source topics have been consumed.
	Offsets map[bus.TopicPartition]int64
}

// StepStatus is one timestep.
type StepStatus struct {
	Timestep lethe.Timestep
	State    lethe.State
	Nodes    int
	Payments int
	Labels   int
}

// Status returns the latest state. It may be called from any goroutine; the
// result must not be changed.
func (r *Role) Status() *Status { return r.status.Load() }

// publishStatus makes the present state the one that Status returns.
func (r *Role) publishStatus() {
	s := &Status{Erasures: r.counts, Offsets: make(map[bus.TopicPartition]int64)}
	for at, next := range r.store.Offsets() {
		s.Offsets[bus.TopicPartition{Topic: bus.Topic(at.Topic), Partition: at.Partition}] = next
	}
	for _, info := range r.store.Timesteps() {
		switch info.State {
		case lethe.Open:
			s.Open++
		case lethe.Closed:
			s.Closed++
		case lethe.Settled:
			s.Settled++
		}
		s.Transactions += info.Nodes
		s.Steps = append(s.Steps, StepStatus{info.Timestep, info.State, info.Nodes, info.Payments, info.Labels})
	}
	r.status.Store(s)
}

// countErasures reads the ledger anew; the map it makes is not changed later.
func (r *Role) countErasures() (err error) {
	r.counts, err = r.ledger.Count()
	return err
}
