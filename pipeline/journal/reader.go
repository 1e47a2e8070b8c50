package journal

import (
	"fmt"

	"lethe/ingest"
)

// Reader says which entries of the journal count, read in their order. Its zero value has read nothing.
type Reader struct{ newest map[string]place }

// place is the newest entry of a role.
type place struct{ epoch, number int64 }

// Epoch returns the newest epoch of a role that has begun, or 0.
func (r *Reader) Epoch(role string) int64 { return r.newest[role].epoch }

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
		counts = e.Epoch > newest.epoch
	} else {
		counts = e.Epoch == newest.epoch && e.Number > newest.number
	}
	if counts {
		if r.newest == nil {
			r.newest = make(map[string]place)
		}
		r.newest[e.Role] = place{e.Epoch, e.Number}
	}
	return e, counts, nil
}
