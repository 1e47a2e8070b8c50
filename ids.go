package lethe

import (
	"encoding/hex"
	"errors"
	"fmt"
)

// TransactionID is the fraud team's own identifier of a transaction. It is personal data: it must
// never be in a log, a metric label, an error text or a file name. Use a Pseudonym there.
type TransactionID string

// Timestep numbers the graph snapshots in stream order. Timesteps are not
// negative and need not be contiguous.
type Timestep int64

// MaxTimestep is the largest timestep: readers of JSON that store numbers as float64 represent every integer up to it
// exactly, and there is room to add 1.
const MaxTimestep = 1 << 53

// ShardID numbers the shards 0..V-1. A shard is a column that runs through
// time: shard 7 holds its part of every settled snapshot.
type ShardID uint32

// Revision counts the versions of the content of a snapshot or a slice, starting at 1.
type Revision uint32

// Label is the known class of a transaction.
type Label uint8

// The labels, in the order of their encoding. NumLabels counts them. Unknown is a class of its
// own for the partition, and contributes no loss.
const (
	Unknown Label = iota
	Licit
	Illicit
	NumLabels = 3
)

// String returns the label's name in the record formats.
func (l Label) String() string {
	switch l {
	case Unknown:
		return "unknown"
	case Licit:
		return "licit"
	case Illicit:
		return "illicit"
	default:
		return fmt.Sprintf("Label(%d)", uint8(l))
	}
}

// ParseLabel parses a label's name. The error does not repeat the input, which may be anything.
func ParseLabel(name string) (Label, error) {
	for l := Unknown; l < NumLabels; l++ {
		if l.String() == name {
			return l, nil
		}
	}
	return Unknown, errors.New("label is not one of unknown, licit, illicit")
}

// State is the life cycle of a snapshot.
type State uint8

// A snapshot is Open while it fills, Closed once its graph is complete (then it is scored) and
// Settled once its labels are in (then it is sharded and trained on).
const (
	Open State = iota + 1
	Closed
	Settled
)

// String returns the state's name.
func (s State) String() string {
	switch s {
	case Open:
		return "open"
	case Closed:
		return "closed"
	case Settled:
		return "settled"
	default:
		return fmt.Sprintf("State(%d)", uint8(s))
	}
}

// Digest is a SHA-256 hash of canonical bytes.
type Digest [32]byte

// String returns the digest in hexadecimal.
func (d Digest) String() string { return hex.EncodeToString(d[:]) }

// IsZero reports whether the digest is unset.
func (d Digest) IsZero() bool { return d == Digest{} }

// MarshalText writes the digest in hexadecimal, for JSON.
func (d Digest) MarshalText() ([]byte, error) { return []byte(d.String()), nil }

// UnmarshalText decodes the text of MarshalText.
func (d *Digest) UnmarshalText(text []byte) error {
	if hex.DecodedLen(len(text)) != len(d) {
		return fmt.Errorf("digest has %d hexadecimal digits, want %d", len(text), 2*len(d))
	}
	if _, err := hex.Decode(d[:], text); err != nil {
		return fmt.Errorf("digest: %w", err)
	}
	return nil
}
