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

// Suppression is the interface to erasures.
type Suppression interface {
	// Redacts reports whether features of any transaction are erased. Any goroutine may call it.
	Redacts() bool
	// Redact returns a record with 0 for the features of its transaction that are erased, and whether some are.
	Redact(rec ingest.Record) (_ ingest.Record, redacted bool)
	// Strip returns the remainder of another transaction's record. more means that it has fields that intake ignores.
	Strip(rec ingest.Record, more bool) (ingest.Remainder, error)
	// Names reports whether a record holds something erased.
	Names(rec ingest.Record) (bool, error)
	// Publish publishes tombstones and replacements of a batch. It can be repeated.
	Publish(ctx context.Context, batch bus.Batch, of Suppressed) error
}

// Suppressed are the records of a batch that hold something erased.
type Suppressed struct {
	// Withdrawn are the positions of records that get tombstones.
	Withdrawn []int
	// Republished are new values of records, by position.
	Republished map[int]ingest.Redaction
	// Late are the events that were dropped only because of a subject.
	Late []ingest.Event
}

// Decisions makes a decision durable for all processes of the role before it is applied.
type Decisions interface {
	Decide(ctx context.Context, what journal.Decision, do func() error) error
	// Features appends the number of features: that of the journal or, if there is none, that of a transaction.
	Features(ctx context.Context, first int) error
}

// Options configure an Intake.
type Options struct {
	Store       *snapshot.Store
	Suppression Suppression
	Decisions   Decisions
	Letters     Letters
	Secret      lethe.Secret
	Limits      ingest.Limits
	// Authority defines which control records must be signed.
	Authority authority.Policy
	// MostOpen is how many timesteps may be open, Ends returns the end offsets.
	MostOpen int
	Ends     interface {
		EndOffsets(ctx context.Context, t bus.Topic) ([]int64, error)
	}
	// Workers is the number of goroutines that decode.
	Workers  int
	Listener events.Listener
	// Sampler chooses the transactions that are reported individually.
	Sampler events.Sampler
}
