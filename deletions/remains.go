package deletions

import (
	"time"

	"lethe"
)

// GoneFolder is a role's folder in a data directory that another one has replaced with
// `lethe run --take-over`, or that was struck off with `lethe members strike`.
type GoneFolder struct {
	Role string `json:"role"`
	// Instance is the identity of the directory, and empty for Earlier ones of which only
	// the number is known.
	Instance   string    `json:"instance,omitempty"`
	Earlier    int       `json:"earlier,omitempty"`
	DeclaredAt time.Time `json:"declared_at,omitzero"`
	// Struck says that the directory was struck off: it shared the role's work with others.
	Struck bool `json:"struck_off,omitempty"`
}

// KeptStubs counts the stubs in a slice that stand for erased records.
type KeptStubs struct {
	SliceRef
	Stubs int `json:"stubs"`
}

// UnreadableBatch is a stretch of a partition's log that nobody can read, and that was therefore not searched.
type UnreadableBatch struct {
	Partition int   `json:"partition"`
	First     int64 `json:"first_offset"`
	Last      int64 `json:"last_offset"`
	// Bytes is how much of the log it is, and SHA256 what that hashes to.
	Bytes  int          `json:"bytes"`
	SHA256 lethe.Digest `json:"sha256"`
}

// Valid reports whether there can be such a stretch.
func (u UnreadableBatch) Valid() bool {
	return u.Partition >= 0 && 0 <= u.First && u.First <= u.Last && u.Bytes > 0 && !u.SHA256.IsZero()
}

// HeldRequest is a request that waited for holds when another one was verified, and whose own
// record in erasures.v1 names something that this one has erased. The record goes when the
// request has been carried out or cancelled.
type HeldRequest struct {
	RequestID     string       `json:"request_id"`
	RequestDigest lethe.Digest `json:"request_digest"`
	// Holds are the names of those in force, none if the last has just ended.
	Holds []string `json:"holds"`
	// Unsigned says that it waits for the signature of one more person.
	Unsigned bool `json:"awaits_signature,omitempty"`
	// Records is how often the log of the topic has the record: once, unless it was written
	// again and the older one is not cleaned away yet.
	Records int `json:"records"`
}
