package journal

import (
	"fmt"
	"slices"

	"lethe"
)

// Served is the ensemble that score serves, and the timesteps that it has scored.
type Served struct {
	// Through is the timestep whose models are served or awaited: earlier models are no longer needed. It is
	// lethe.NoTimestep if there are none.
	Through lethe.Timestep `json:"through"`
	// Ensemble is the version of the served ensemble, or zero.
	Ensemble lethe.Digest `json:"ensemble,omitzero"`
	// Scored are the timesteps whose predictions are all published.
	Scored Timesteps `json:"scored,omitempty"`
}

func (Served) kind() string { return "served" }

// Equal reports whether both are equal.
func (s Served) Equal(other Served) bool {
	return s.Through == other.Through && s.Ensemble == other.Ensemble && slices.Equal(s.Scored, other.Scored)
}

func (s Served) valid() error {
	if s.Through < lethe.NoTimestep {
		return fmt.Errorf("timesteps before %d", lethe.NoTimestep)
	}
	return s.Scored.valid()
}

// Explained means that reasons of a timestep are published: those of the first alerts without reasons, as many as score
// makes at once.
type Explained struct {
	Timestep lethe.Timestep `json:"timestep"`
	// Owed is the number of alerts that still have none.
	Owed int `json:"owed,omitempty"`
}

func (Explained) kind() string { return "explained" }

func (d Explained) valid() error {
	if d.Owed < 0 {
		return fmt.Errorf("%d alerts", d.Owed)
	}
	return nil
}
