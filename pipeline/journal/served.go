package journal

import (
	"fmt"
	"slices"

	"lethe"
)

// Served is what score serves and has scored.
type Served struct {
	// Through is the timestep whose models are served, or waited for: nobody asks for those before it any more. It is
	// lethe.NoTimestep if nothing is served.
	Through lethe.Timestep `json:"through"`
	// Ensemble is the version of the one that is served, or zero.
	Ensemble lethe.Digest `json:"ensemble,omitzero"`
	// Scored are the timesteps that are scored; nil where one process plays the role alone.
	Scored *Scored `json:"scored,omitempty"`
}

func (Served) kind() string { return "served" }

// Equal reports whether both say the same.
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

// Scored are the timesteps that arrived and have all their predictions on the topic of these: those up to one, but for
// some.
type Scored struct {
	Through lethe.Timestep   `json:"through"`
	But     []lethe.Timestep `json:"but,omitempty"`
}

// Holds reports whether a timestep is scored. It may be called of nil, which holds none.
func (s *Scored) Holds(t lethe.Timestep) bool {
	return s != nil && t <= s.Through && !slices.Contains(s.But, t)
}

func (s Served) valid() error {
	if s.Through < lethe.NoTimestep || s.Scored != nil && s.Scored.Through < lethe.NoTimestep {
		return fmt.Errorf("timesteps before %d", lethe.NoTimestep)
	}
	return nil
}

// Explained is that reasons of a timestep are published: those of the first alerts that waited for theirs, as many as
// score makes at once.
type Explained struct {
	Timestep lethe.Timestep `json:"timestep"`
	// Owed is how many alerts still wait.
	Owed int `json:"owed,omitempty"`
}

func (Explained) kind() string { return "explained" }

func (d Explained) valid() error {
	if d.Owed < 0 {
		return fmt.Errorf("%d alerts", d.Owed)
	}
	return nil
}
