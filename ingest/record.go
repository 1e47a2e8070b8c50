package ingest

import (
	"slices"
	"time"
)

// Header is a record header.
type Header struct {
	Key   string
	Value []byte
}

// CodeHeader is the header of the code that every record of a topic of lethe's own carries last.
const CodeHeader = "lethe.mac"

// Record is a record as it was read from a topic.
type Record struct {
	// Topic is the topic's full name, prefix included.
	Topic     string
	Partition int
	Offset    int64
	// Key is nil for a record without a key.
	Key []byte
	// Value is nil for a tombstone.
	Value []byte
	// Headers after the 10,000th are combined into one without a key: its value is their bytes as
	// stored in the log.
	Headers []Header
	Time    time.Time
	// Unauthenticated is why a record of one of lethe's own topics cannot be attributed to a
	// process of the deployment. It is empty if the record is proven or was not checked.
	Unauthenticated string
	// Uncommitted is why a reader of committed records does not receive the record. It is empty
	// for one that such a reader receives.
	Uncommitted Uncommitted
}

// Uncommitted is why a record is not read as committed.
type Uncommitted string

// InAborted is a record of an aborted transaction, which the log holds until it is cleaned.
// BehindOpen is a record in or after an open transaction: it cannot be read as committed until that
// transaction ends.
const (
	InAborted  Uncommitted = "aborted"
	BehindOpen Uncommitted = "open"
)

// Tombstone reports whether the record deletes its key.
func (r Record) Tombstone() bool { return r.Value == nil }

// Clone returns a record that shares no memory with r, which may be part of a buffer that is used again.
func (r Record) Clone() Record {
	r.Key, r.Value, r.Headers = slices.Clone(r.Key), slices.Clone(r.Value), slices.Clone(r.Headers)
	for i := range r.Headers {
		r.Headers[i].Value = slices.Clone(r.Headers[i].Value)
	}
	return r
}

// Parts returns everything that a record holds in addition to its key: the value, and the keys
// and values of its headers; then the content of binary records as JSON (see Spelled).
func (r Record) Parts() [][]byte { return Spelled(r.parts()) }

func (r Record) parts() [][]byte {
	parts := [][]byte{r.Value}
	for _, h := range r.Headers {
		parts = append(parts, []byte(h.Key), h.Value)
	}
	return parts
}

// sizeBytes counts what the producer supplied, without the broker's framing.
func (r Record) sizeBytes() int {
	n := len(r.Key) + len(r.Value)
	for _, h := range r.Headers {
		n += len(h.Key) + len(h.Value)
	}
	return n
}

// Outgoing is a record to be written.
type Outgoing struct {
	Key []byte
	// Value is nil for a tombstone.
	Value   []byte
	Headers []Header
	// Time is the record's timestamp; the zero time leaves it to the producer.
	Time time.Time
	// HashKey, if not nil, is hashed in place of Key to choose the partition, so
	// that records of several keys can share one.
	HashKey []byte
	// Pinned sends the record to Partition, whatever the keys are.
	Pinned    bool
	Partition int
}
