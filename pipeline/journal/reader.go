package journal

import (
	"fmt"

	"lethe/ingest"
)

// The partitions of the journal. ForAll has the epochs, which all roles read, and the entries of score. ForGraphs has
// those of graphs, which are a thousand times as many.
const (
	ForAll    = 0
	ForGraphs = 1
)

// Reader determines which entries are valid. They must be read in the order of their partition. The zero value has read
// nothing.
type Reader struct{ newest map[log]Place }

// log identifies the entries of a role in a partition.
type log struct {
	role      string
	partition int
}

// Epoch returns the newest epoch of a role in a partition, or 0.
func (r *Reader) Epoch(role string, partition int) int64 { return r.newest[log{role, partition}].Epoch }

// ReaderFrom returns a reader that continues behind an entry of a role in a partition.
func ReaderFrom(role string, partition int, at Place) (r Reader) {
	r.begin(log{role, partition}, at)
	return r
}

// begin makes the reader continue behind an entry.
func (r *Reader) begin(of log, at Place) {
	if r.newest == nil {
		r.newest = make(map[log]Place)
	}
	r.newest[of] = at
}

// Read decodes the next record and reports whether it is a valid entry. Records without the deployment's code are not.
// The error is ErrMalformed: a process must not continue without an entry of another version, which may be of its own
// role.
func (r *Reader) Read(rec ingest.Record) (e Entry, counts bool, err error) {
	if rec.Unauthenticated != "" {
		return e, false, nil
	}
	if e, err = Decode(rec.Value); err != nil {
		return e, false, fmt.Errorf("%w (run the version of lethe that has written it)", err)
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
