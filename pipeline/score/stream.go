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

// stepsBefore walks back n snapshots from t.
func (s *state) stepsBefore(t lethe.Timestep, n int) lethe.Timestep {
	for range n {
		if t == lethe.NoTimestep {
			break
		}
		t = s.links[t].previous
	}
	return t
}
