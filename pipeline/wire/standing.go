package wire

import (
	"maps"
	"slices"

	"lethe/ingest"
)

// Standing are the keys of the records that a compacted topic holds, of those that somebody is to withdraw.
type Standing map[string]bool

// Take notes a record of the topic. One that lethe did not write is not its to withdraw.
func (s Standing) Take(rec ingest.Record) {
	switch key := string(rec.Key); {
	case rec.Tombstone():
		delete(s, key)
	case rec.Unproven == "":
		s[key] = true
	}
}

// Tombstones are those that withdraw everything, in the order of the keys.
func (s Standing) Tombstones() (out []ingest.Outgoing) {
	for _, key := range slices.Sorted(maps.Keys(s)) {
		out = append(out, ingest.Outgoing{Key: []byte(key)})
	}
	return out
}

// Withdrawn notes that tombstones were written.
func (s Standing) Withdrawn(records []ingest.Outgoing) {
	for _, rec := range records {
		delete(s, string(rec.Key))
	}
}
