package ingest

import "time"

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
	// Headers beyond the 10,000th come as one without a key: its value is their bytes as they stand in the log.
	Headers []Header
	Time    time.Time
	// Unproven says why a record of a topic of lethe's own does not count as one that a
	// process of the deployment wrote. It is empty if it does, and where nobody looked.
	Unproven string
	// Uncommitted says why a reader of committed records does not get the record. It is empty for one that
	// such a reader gets.
	Uncommitted Uncommitted
}

// Uncommitted is why a record is not read as committed.
type Uncommitted string

// InAborted is a record of an aborted transaction, which the log holds until it is cleaned. BehindOpen is one in or
// behind a transaction that is open: nobody reads it as committed until that ends.
const (
	InAborted  Uncommitted = "aborted"
	BehindOpen Uncommitted = "open"
)

// Tombstone reports whether the record deletes its key.
func (r Record) Tombstone() bool { return r.Value == nil }

// Parts are all that a record holds in addition to its key: the value, and the keys and values of
// its headers; then what a binary record says as JSON (see Spelled).
func (r Record) Parts() [][]byte { return Spelled(r.parts()) }

func (r Record) parts() [][]byte {
	parts := [][]byte{r.Value}
	for _, h := range r.Headers {
		parts = append(parts, []byte(h.Key), h.Value)
	}
	return parts
}

// sizeBytes is what the producer supplied; the broker's framing is not counted.
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
	// Pinned says that the record goes to Partition, whatever the keys are.
	Pinned    bool
	Partition int
}
