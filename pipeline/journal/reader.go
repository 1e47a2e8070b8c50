package journal

import (
	"fmt"

	"lethe/ingest"
)

// Reader says which entries of the journal count, read in their order. Its zero value has read nothing.
type Reader struct{ newest map[string]Place }

// Epoch returns the newest epoch of a role that has begun, or 0.
func (r *Reader) Epoch(role string) int64 { return r.newest[role].Epoch }

// Read reads the next record, and reports whether it is an entry that counts.
func (r *Reader) Read(rec ingest.Record) (e Entry, counts bool, err error) {
	if rec.Unproven != "" {
		return e, false, fmt.Errorf("%s@%d: %w: %s", rec.Topic, rec.Offset, ErrMalformed, rec.Unproven)
	}
	if e, err = Decode(rec.Value); err != nil {
		return e, false, fmt.Errorf("%s@%d: %w", rec.Topic, rec.Offset, err)
	}
	newest := r.newest[e.Role]
	if _, begins := e.Decision.(EpochBegan); begins {
		counts = e.Epoch > newest.Epoch
	} else {
		counts = e.Epoch == newest.Epoch && e.Number > newest.Number
	}
	if counts {
		if r.newest == nil {
			r.newest = make(map[string]Place)
		}
		r.newest[e.Role] = e.Place()
	}
	return e, counts, nil
}
