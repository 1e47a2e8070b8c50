package coordinator

import (
	"context"
	"time"

	"lethe"
	"lethe/deletions/scan"
	"lethe/ingest"
	"lethe/ingest/bus"
	"lethe/pipeline/wire"
)

// Graphs is what the coordinator asks of whoever holds the graphs. One method is
// called at a time.
type Graphs interface {
	// Locate tells of each target, in order, what the graphs know of it.
	Locate(targets []lethe.Target) ([]Location, error)
	// Suppress keeps records that name a target from being taken from now on. It
	// is durable when it returns.
	Suppress(targets []lethe.Target) error
	// Plan tells what Rewrite will change, beside what it has changed already.
	Plan(targets []lethe.Target, scope lethe.Scope) (Plan, error)
	// Rewrite takes the targets out of every graph, and publishes the graphs and
	// slices that were replaced.
	Rewrite(ctx context.Context, targets []lethe.Target, replaced []Replaced) error
	// Steps gives the revisions that no longer hold the targets. Timesteps that
	// are open, or gone, are left out.
	Steps(replaced []Replaced) []wire.CommandStep
}

// Location is what the graphs know of one target.
type Location struct {
	// Known: a graph or an open timestep holds it.
	Known bool
	// Suppressed: it was erased, or is being erased.
	Suppressed bool
}

// Replaced is a timestep that an erasure rewrites, and the shards whose slice of
// it changes, ascending.
type Replaced struct {
	Timestep lethe.Timestep
	Shards   []lethe.ShardID
}

// Plan is what an erasure will change and what to search for afterwards.
type Plan struct {
	// Fingerprints are the forms that only the graphs can tell, such as features.
	Fingerprints []scan.Fingerprint
	// NotSearched are the forms that say nothing about the targets.
	NotSearched []scan.Kind
	// Steps are the closed timesteps concerned, ascending.
	Steps []StepPlan
}

// StepPlan is what an erasure will change in one closed timestep.
type StepPlan struct {
	Replaced
	// Labels and Payments go with the targets. Stubs counts the cut edges that
	// go, each of which has a stub at both ends.
	Labels, Payments, Stubs int
}

// Notes keeps, with the graphs' offsets, how far the coordinator has come.
type Notes interface {
	// Commit says that a partition of erasures.v1 is dealt with up to an offset.
	Commit(source bus.TopicPartition, next int64) error
	// Concluded reports whether a request's receipt and last state were published;
	// Conclude notes it.
	Concluded(requestID string) (bool, error)
	Conclude(requestID string) error
}

// Bus is how the coordinator reads and writes topics; *bus.Client is one.
type Bus interface {
	Write(ctx context.Context, t bus.Topic, records []ingest.Outgoing) error
	// ReadAll reads a topic from its start to where it ends now.
	ReadAll(ctx context.Context, t bus.Topic, fn func(ingest.Record) error) error
	RollMarkers(ctx context.Context, topics ...bus.Topic) error
}

var _ Bus = (*bus.Client)(nil)

// Clock tells the time and lets it pass.
type Clock interface {
	Now() time.Time
	// Sleep waits, or returns the context's error when that ends first.
	Sleep(ctx context.Context, d time.Duration) error
}

// WallClock is the clock of the machine.
type WallClock struct{}

// Now implements Clock.
func (WallClock) Now() time.Time { return time.Now() }

// Sleep implements Clock.
func (WallClock) Sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
