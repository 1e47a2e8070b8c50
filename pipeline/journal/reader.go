package journal

import (
	"fmt"

	"lethe/ingest"
)

// The journal has two partitions: what processes of other roles have to know is in one, with what the stores of score
// are a function of, and in the other what those of graphs are, of which there is a thousand times more.
const (
	ForAll    = 0
	ForGraphs = 1
)

// Reader says which entries of the journal count, read in the order of their partition. Its zero value has read
// nothing.
type Reader struct{ newest map[log]Place }

// log are the entries of a role in a partition.
type log struct {
	role      string
	partition int
}

// Epoch returns the newest epoch of a role that has begun in a partition, or 0.
func (r *Reader) Epoch(role string, partition int) int64 { return r.newest[log{role, partition}].Epoch }

// ReaderFrom returns a reader of a role's entries in a partition that goes on behind one.
func ReaderFrom(role string, partition int, at Place) (r Reader) {
	r.begin(log{role, partition}, at)
	return r
}

// begin has the reader go on behind an entry.
func (r *Reader) begin(of log, at Place) {
	if r.newest == nil {
		r.newest = make(map[log]Place)
	}
	r.newest[of] = at
}

// Read reads the next record, and reports whether it is an entry that counts.
func (r *Reader) Read(rec ingest.Record) (e Entry, counts bool, err error) {
	if rec.Unproven != "" {
		return e, false, fmt.Errorf("%s@%d: %w: %s", rec.Topic, rec.Offset, ErrMalformed, rec.Unproven)
	}
	if e, err = Decode(rec.Value); err != nil {
		return e, false, fmt.Errorf("%s@%d: %w", rec.Topic, rec.Offset, err)
	}
	of := log{e.Role, rec.Partition}
	newest := r.newest[of]
	if _, begins := e.Decision.(EpochBegan); begins {
		counts = e.Epoch > newest.Epoch
	} else {
		counts = e.Epoch == newest.Epoch && e.Number > newest.Number
	}
	if counts {
		r.begin(of, e.Place())
	}
	return e, counts, nil
}
