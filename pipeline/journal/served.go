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
	// Scored are the scored timesteps; nil if no other process has the role.
	Scored *Scored `json:"scored,omitempty"`
}

func (Served) kind() string { return "served" }

// Equal reports whether both are equal.
func (s Served) Equal(other Served) bool {
	if s.Through != other.Through || s.Ensemble != other.Ensemble {
		return false
	}
	if s.Scored == nil || other.Scored == nil {
		return s.Scored == other.Scored
	}
	return s.Scored.Through == other.Scored.Through &&
		slices.Equal(s.Scored.But, other.Scored.But)
}

// Scored are the timesteps whose predictions are all published: those through one, except some.
type Scored struct {
	Through lethe.Timestep   `json:"through"`
	But     []lethe.Timestep `json:"but,omitempty"`
}

// Holds reports whether a timestep is scored. A nil Scored holds none.
func (s *Scored) Holds(t lethe.Timestep) bool {
	return s != nil && t <= s.Through && !slices.Contains(s.But, t)
}

func (s Served) valid() error {
	if s.Through < lethe.NoTimestep || s.Scored != nil && s.Scored.Through < lethe.NoTimestep {
		return fmt.Errorf("timesteps before %d", lethe.NoTimestep)
	}
	return nil
}

func (Served) isKeptByRekeying() bool { return true }

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

func (Explained) isKeptByRekeying() bool { return false }
