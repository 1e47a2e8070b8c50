package graphs

import (
	"context"

	"lethe"
	"lethe/deletions/coordinator"
	"lethe/ingest"
	"lethe/ingest/bus"
	"lethe/pipeline/role"
	"lethe/snapshot"
)

// Bus is what the role and the coordinator need of the topics; role.Kafka is one.
type Bus interface {
	role.Bus
	coordinator.Bus
}

var _ Bus = role.Kafka{}

// Store is what the role needs of the store of graphs. A snapshot.Store may be in
// memory.
type Store interface {
	Begin(source snapshot.Source) (*snapshot.Batch, error)
	Offsets() map[snapshot.TopicPartition]int64
	Marks() snapshot.Marks
	// Timesteps are what is known; Ready are those to be closed and to be settled.
	Timesteps() []snapshot.Info
	Ready() (toClose, toSettle []lethe.Timestep)
	CloseTimestep(ctx context.Context, t lethe.Timestep) error
	SettleTimestep(ctx context.Context, t lethe.Timestep, assign snapshot.Assign) error
	Refusals(t lethe.Timestep) ([]snapshot.Refusal, error)
	ConfirmRefusals(t lethe.Timestep) error
	Load(t lethe.Timestep) (*snapshot.Content, error)
	Locate(targets []lethe.Target) ([]snapshot.Located, error)
	Suppress(targets []lethe.Target) error
	Erase(ctx context.Context, targets []lethe.Target) error
	Close() error
}

// Searches runs the searches that verify erasures, one at a time.
type Searches interface {
	// Begin begins a search. It may run beside the steps until the context ends.
	Begin(ctx context.Context, s *coordinator.Search)
	// Verdict returns the outcome of a search that has ended, once.
	Verdict() (coordinator.Verdict, bool)
	// Wait waits until no search runs.
	Wait()
}

// topics are those of a bus as steps see them: what is written to them is the
// output of a step.
type topics struct {
	*role.Turns
	reads Bus
}

var _ coordinator.Bus = topics{}

// ReadAll implements coordinator.Bus.
func (t topics) ReadAll(ctx context.Context, topic bus.Topic, fn func(ingest.Record) error) error {
	return t.reads.ReadAll(ctx, topic, fn)
}

// Partitions implements bus.Writer.
func (t topics) Partitions(ctx context.Context, topic bus.Topic) (int, error) {
	return t.reads.Partitions(ctx, topic)
}

// RollMarkers implements coordinator.Bus.
func (t topics) RollMarkers(ctx context.Context, list ...bus.Topic) error {
	return bus.RollMarkers(ctx, t, list...)
}
