package wire

import (
	"encoding/json"
	"fmt"
	"slices"

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
	// Scored are the timesteps that are scored. Where one process plays the role alone it
	// is nil: nobody says it.
	Scored *Scored `json:"scored,omitempty"`
}

// Scored says which timesteps that arrived have all their predictions and reasons on the topics of these: those through
// one, but for some.
type Scored struct {
	Through lethe.Timestep   `json:"through"`
	But     []lethe.Timestep `json:"but,omitempty"`
}

// Holds reports whether a timestep is scored. It may be called of nil, which holds none.
func (s *Scored) Holds(t lethe.Timestep) bool {
	return s != nil && t <= s.Through && !slices.Contains(s.But, t)
}

// Equal reports whether both say the same.
func (s Served) Equal(other Served) bool {
	if s.Scored == nil || other.Scored == nil {
		return s.Through == other.Through && s.Scored == other.Scored
	}
	return s.Through == other.Through && s.Scored.Through == other.Scored.Through &&
		slices.Equal(s.Scored.But, other.Scored.But)
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
	for _, t := range []lethe.Timestep{s.Through, s.scoredThrough()} {
		if err == nil && t < lethe.NoTimestep {
			err = fmt.Errorf("through is %d, want at least %d", t, lethe.NoTimestep)
		}
	}
	if err != nil {
		return nil, fmt.Errorf("%s/%d@%d: what is served: %w", rec.Topic, rec.Partition, rec.Offset, err)
	}
	return &s, nil
}

func (s Served) scoredThrough() lethe.Timestep {
	if s.Scored == nil {
		return lethe.NoTimestep
	}
	return s.Scored.Through
}

// IsServedKey reports whether a key of control.v1 is that of Served.
func IsServedKey(key string) bool { return key == servedKey }

// isServed reports whether a record is one of Served.
func isServed(rec ingest.Record) bool {
	return string(rec.Key) == servedKey && !rec.Tombstone()
}
