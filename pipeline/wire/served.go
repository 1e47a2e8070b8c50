package wire

import (
	"encoding/json"
	"fmt"

	"lethe"
	"lethe/ingest"
)

const (
	servedFormat = "lethe-served/1"
	servedKey    = "!served"
)

// Served says through which timestep the models are that score serves, so that train
// knows which models nobody will ask for any more. It travels on control.v1 as a
// control record, of which the newest counts.
type Served struct {
	Format string `json:"format"`
	// Through is lethe.NoTimestep if nothing is served.
	Through lethe.Timestep `json:"through"`
}

// Record returns what is said as a record of control.v1.
func (s Served) Record() (ingest.Outgoing, error) {
	s.Format = servedFormat
	value, err := json.Marshal(s)
	if err != nil {
		return ingest.Outgoing{}, fmt.Errorf("what is served: %w", err)
	}
	return ingest.Outgoing{Key: []byte(servedKey), Value: value}, nil
}

// parseServed reads a record with the key of Served.
func parseServed(rec ingest.Record) (*Served, error) {
	var s Served
	err := json.Unmarshal(rec.Value, &s)
	if err == nil && s.Format != servedFormat {
		err = fmt.Errorf("format %q, want %q", s.Format, servedFormat)
	}
	if err == nil && s.Through < lethe.NoTimestep {
		err = fmt.Errorf("through is %d, want at least %d", s.Through, lethe.NoTimestep)
	}
	if err != nil {
		return nil, fmt.Errorf("%s/%d@%d: what is served: %w", rec.Topic, rec.Partition, rec.Offset, err)
	}
	return &s, nil
}

// isServed reports whether a record is one of Served.
func isServed(rec ingest.Record) bool {
	return string(rec.Key) == servedKey && !rec.Tombstone()
}
