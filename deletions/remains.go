package deletions

import (
	"time"

	"lethe"
)

// GoneFolder is a role's folder in a data directory that was replaced (`lethe run --take-over`) or struck off
// (`lethe members strike`).
type GoneFolder struct {
	Role string `json:"role"`
	// Instance is the directory's identity; empty for Earlier ones, of which only the number is known.
	Instance   string    `json:"instance,omitempty"`
	Earlier    int       `json:"earlier,omitempty"`
	DeclaredAt time.Time `json:"declared_at,omitzero"`
	// Struck says that the directory was struck off.
	Struck bool `json:"struck_off,omitempty"`
}

// KeptStubs counts the stubs for erased records in a slice.
type KeptStubs struct {
	SliceRef
	Stubs int `json:"stubs"`
}

// UnreadableBatch is a range of a partition that cannot be read, and was not searched.
type UnreadableBatch struct {
	Partition int   `json:"partition"`
	First     int64 `json:"first_offset"`
	Last      int64 `json:"last_offset"`
	// Bytes and SHA256 are of that range.
	Bytes  int          `json:"bytes"`
	SHA256 lethe.Digest `json:"sha256"`
}

// Valid reports whether the range is possible.
func (u UnreadableBatch) Valid() bool {
	return u.Partition >= 0 && 0 <= u.First && u.First <= u.Last && u.Bytes > 0 && !u.SHA256.IsZero()
}

// HeldRequest waited for holds when another request was verified; its own record in erasures.v1 names something
// erased there. The record is deleted when it has been carried out or cancelled.
type HeldRequest struct {
	RequestID     string       `json:"request_id"`
	RequestDigest lethe.Digest `json:"request_digest"`
	// Holds are those in force; empty if the last has just ended.
	Holds []string `json:"holds"`
	// Unsigned says that another signature is missing.
	Unsigned bool `json:"awaits_signature,omitempty"`
	// Records counts the record in the log: more than once if rewritten and not yet compacted.
	Records int `json:"records"`
}
