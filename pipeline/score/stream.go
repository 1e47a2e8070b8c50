package score

import (
	"maps"
	"slices"

	"lethe"
)

// known returns the timesteps of all snapshots seen, ascending.
func (s *state) known() []lethe.Timestep { return slices.Sorted(maps.Keys(s.links)) }

// nextWaiting returns the oldest snapshot that is not scored, or NoTimestep,
// and whether its turn has come: the one before it is known and done.
func (s *state) nextWaiting() (t lethe.Timestep, ready bool) {
	for _, t := range s.known() {
		at := s.links[t]
		if at.done {
			continue
		}
		before, known := s.links[at.previous]
		return t, at.previous == lethe.NoTimestep || known && before.done
	}
	return lethe.NoTimestep, false
}

// lastSeen returns the newest snapshot seen, or NoTimestep.
func (s *state) lastSeen() lethe.Timestep {
	known := s.known()
	if len(known) == 0 {
		return lethe.NoTimestep
	}
	return known[len(known)-1]
}

// stepsBefore walks back n snapshots from t. It is not known which one that is
// while one is missing on the way: it is gone, and that behind it was not relinked
// yet, or it has still to arrive.
func (s *state) stepsBefore(t lethe.Timestep, n int) (before lethe.Timestep, known bool) {
	for range n {
		if t == lethe.NoTimestep {
			break
		}
		at, known := s.links[t]
		if !known {
			return lethe.NoTimestep, false
		}
		t = at.previous
	}
	return t, true
}

// nextLate returns the oldest snapshot that late transactions joined, if there is
// one.
func (s *state) nextLate() (lethe.Timestep, bool) {
	for _, t := range s.known() {
		if s.links[t].late {
			return t, true
		}
	}
	return lethe.NoTimestep, false
}

// passed reports whether a snapshot after t was scored already.
func (s *state) passed(t lethe.Timestep) bool {
	for at, l := range s.links {
		if at > t && l.done {
			return true
		}
	}
	return false
}
