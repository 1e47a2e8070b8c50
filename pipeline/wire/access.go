package wire

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"lethe"
	"lethe/ingest"
)

const (
	accessFormat = "lethe-access/1"
	accessPrefix = "!access/"
)

// Access says that somebody changed something through the API of a process, or looked at what an
// erasure names, so that the process which keeps the transparency log writes it down. It travels on
// control.v1 as a control record, and is deleted there once it is in the log. It names nobody
// and no transaction.
type Access struct {
	Format string    `json:"format"`
	Deed   string    `json:"deed"`
	At     time.Time `json:"at"`
	// Actor and Request are keyed hashes, zero for nobody and for none.
	Actor   lethe.Digest `json:"actor,omitzero"`
	Request lethe.Digest `json:"request,omitzero"`
	Count   int          `json:"count,omitempty"`
}

// Record returns the access as a record of control.v1. The name tells it from all others.
func (a Access) Record(name string) (ingest.Outgoing, error) {
	a.Format, a.At = accessFormat, a.At.UTC().Truncate(time.Millisecond)
	value, err := json.Marshal(a)
	if err != nil {
		return ingest.Outgoing{}, fmt.Errorf("access: %w", err)
	}
	return ingest.Outgoing{Key: []byte(accessPrefix + name), Value: value}, nil
}

// IsAccess reports whether a record of control.v1 is an access, or deletes one.
func IsAccess(rec ingest.Record) bool { return strings.HasPrefix(string(rec.Key), accessPrefix) }

// ParseAccess reads a record of control.v1; it says whether there is an access in it.
func ParseAccess(rec ingest.Record) (a Access, found bool, err error) {
	if !IsAccess(rec) || rec.Tombstone() {
		return a, false, nil
	}
	if err = proven(rec); err == nil {
		err = json.Unmarshal(rec.Value, &a)
	}
	switch {
	case err != nil:
	case a.Format != accessFormat:
		err = fmt.Errorf("format %.40q, want %q", a.Format, accessFormat)
	case a.Deed == "" || a.At.IsZero() || a.Count < 0:
		err = errors.New("no deed, no time, or a negative count")
	}
	if err != nil {
		return Access{}, false, fmt.Errorf("%s/%d@%d: access: %w", rec.Topic, rec.Partition, rec.Offset, err)
	}
	return a, true, nil
}
