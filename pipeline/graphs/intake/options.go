package intake

import (
	"context"

	"lethe"
	"lethe/ingest"
	"lethe/ingest/authority"
	"lethe/ingest/bus"
	"lethe/metrics/events"
	"lethe/pipeline/journal"
	"lethe/snapshot"
)

// Suppression is what intake knows of erasures.
type Suppression interface {
	// Redacts reports whether features of any transaction are erased. Any goroutine may call it.
	Redacts() bool
	// Redact returns a record with 0 for the features of its transaction that are erased, and whether some are.
	Redact(rec ingest.Record) (_ ingest.Record, redacted bool)
	// Strip returns what stays of another one's record. more says that there is more in it than what is taken.
	Strip(rec ingest.Record, more bool) (ingest.Remainder, error)
	// Names reports whether a record holds something erased.
	Names(rec ingest.Record) (bool, error)
	// Publish publishes what becomes of suppressed records of a batch. Nothing of it changes if it is repeated.
	Publish(ctx context.Context, batch bus.Batch, of Suppressed) error
}

// Suppressed are the records of a batch that hold something erased.
type Suppressed struct {
	// Withdrawn are the positions of those that are deleted from their topic.
	Withdrawn []int
	// Republished are new values of records, by their position.
	Republished map[int]ingest.Redaction
	// Late are the events that were dropped for a subject alone.
	Late []ingest.Event
}

// Decisions have a decision durable for all processes of the role before it is carried out.
type Decisions interface {
	Decide(ctx context.Context, what journal.Decision, do func() error) error
	// Features decides the number of features: what was decided before or, if nothing was, that of a transaction.
	Features(ctx context.Context, first int) error
}

// Options are what an Intake works with.
type Options struct {
	Store       *snapshot.Store
	Suppression Suppression
	Decisions   Decisions
	Letters     Letters
	Secret      lethe.Secret
	Limits      ingest.Limits
	// Authority says which control records must be signed.
	Authority authority.Policy
	// MostOpen is how many timesteps may be open, Ends tells what was sent.
	MostOpen int
	Ends     interface {
		EndOffsets(ctx context.Context, t bus.Topic) ([]int64, error)
	}
	// Workers is how many goroutines decode.
	Workers  int
	Listener events.Listener
	// Sampler chooses the transactions that the listener hears of one by one.
	Sampler events.Sampler
}
