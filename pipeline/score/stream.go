package score

import (
	"maps"
	"slices"

	"lethe"
	"lethe/pipeline/journal"
)

// stream has the state of every snapshot, by timestep.
type stream map[lethe.Timestep]link

// known returns the timesteps of all snapshots seen, ascending.
func (s stream) known() []lethe.Timestep { return slices.Sorted(maps.Keys(s)) }

// nextWaiting returns the oldest snapshot that is not scored, or NoTimestep, and whether it can be scored: its
// predecessor is known and done.
func (s stream) nextWaiting() (t lethe.Timestep, ready bool) {
	for _, t := range s.known() {
		at := s[t]
		if at.done {
			continue
		}
		before, known := s[at.previous]
		return t, at.previous == lethe.NoTimestep || known && before.done
	}
	return lethe.NoTimestep, false
}

// lastSeen returns the newest snapshot seen, or NoTimestep.
func (s stream) lastSeen() lethe.Timestep {
	known := s.known()
	if len(known) == 0 {
		return lethe.NoTimestep
	}
	return known[len(known)-1]
}

// stepsBefore walks back n snapshots from t. It fails while one of them is missing: it is deleted and its successor
// not yet relinked, or it has not arrived.
func (s stream) stepsBefore(t lethe.Timestep, n int) (before lethe.Timestep, known bool) {
	for range n {
		if t == lethe.NoTimestep {
			break
		}
		at, known := s[t]
		if !known {
			return lethe.NoTimestep, false
		}
		t = at.previous
	}
	return t, true
}

// nextLate returns the oldest snapshot with late transactions whose alerts have their reasons, if there is one: these
// must be of the ensemble that made the predictions.
func (s stream) nextLate() (lethe.Timestep, bool) {
	for _, t := range s.known() {
		if s[t].late && s[t].owed != owesNew {
			return t, true
		}
	}
	return lethe.NoTimestep, false
}

// owesAgain reports whether a timestep must publish reasons again.
func (s stream) owesAgain() bool {
	for _, at := range s {
		if at.owed == owesAgain {
			return true
		}
	}
	return false
}

// passed reports whether a snapshot after t was scored already.
func (s stream) passed(t lethe.Timestep) bool {
	for at, l := range s {
		if at > t && l.done {
			return true
		}
	}
	return false
}

// awaited returns the timestep of the ensemble that is awaited, or NoTimestep.
func (s *state) awaited(labelLagTimesteps int) lethe.Timestep {
	before, steps := s.links.lastSeen(), labelLagTimesteps
	if t, _ := s.links.nextWaiting(); t != lethe.NoTimestep {
		before, steps = t, 1+labelLagTimesteps
	}
	through, _ := s.links.stepsBefore(before, steps)
	return through
}

// scored returns the timesteps that are scored, or stay unscored.
func (s stream) scored() journal.Timesteps {
	return journal.TimestepsOf(slices.DeleteFunc(s.known(), func(t lethe.Timestep) bool { return !s[t].done }))
}

// owing returns the timestep whose reasons are made next, or NoTimestep: first one that an erasure or late
// transactions wait for, then the newest.
func (e *explaining) owing() lethe.Timestep {
	s := e.state
	again, late, newest := lethe.NoTimestep, lethe.NoTimestep, lethe.NoTimestep
	for _, t := range s.links.known() {
		switch at := s.links[t]; {
		case at.owed == owesAgain:
			again = t
		case at.owed == owesNew && at.late:
			late = t
		case at.owed == owesNew:
			newest = t
		}
	}
	switch {
	case again != lethe.NoTimestep && s.current():
		return again
	case late != lethe.NoTimestep:
		return late
	default:
		return newest
	}
}
