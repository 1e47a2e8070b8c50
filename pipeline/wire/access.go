package wire

import (
	"errors"
	"strings"
	"time"

	"lethe"
	"lethe/ingest"
)

func accesses() kind { return kind{"!access/", "lethe-access/1", "access"} }

// Access is a change through the API of a process, or a look at the targets of an erasure. It is a control record for
// the leader of graphs, which adds a leaf to the transparency log and deletes it. It contains no name and no id.
type Access struct {
	Format string    `json:"format"`
	Deed   string    `json:"deed"`
	At     time.Time `json:"at"`
	// Actor and Request are keyed hashes, zero if unknown.
	Actor   lethe.Digest `json:"actor,omitzero"`
	Request lethe.Digest `json:"request,omitzero"`
	Count   int          `json:"count,omitempty"`
}

// Record returns the access as a record of control.v1, under a unique name.
func (a Access) Record(name string) (ingest.Outgoing, error) {
	a.Format, a.At = accesses().format, a.At.UTC().Truncate(time.Millisecond)
	return accesses().record(name, a)
}

// IsAccess reports whether a record of control.v1 is an access or its tombstone.
func IsAccess(rec ingest.Record) bool { return strings.HasPrefix(string(rec.Key), accesses().prefix) }

// ParseAccess decodes a record of control.v1, if it is an access.
func ParseAccess(rec ingest.Record) (a Access, found bool, err error) {
	return parse(accesses(), rec, func(a *Access, _ string) error {
		if a.Deed == "" || a.At.IsZero() || a.Count < 0 {
			return errors.New("no deed, no time, or a negative count")
		}
		return nil
	})
}
