package score

import (
	"maps"
	"math"
	"slices"
	"time"

	"lethe"
	"lethe/pipeline/journal"
)

// stream is where every snapshot that was seen stands, by timestep.
type stream map[lethe.Timestep]link

// known returns the timesteps of all snapshots seen, ascending.
func (s stream) known() []lethe.Timestep { return slices.Sorted(maps.Keys(s)) }

// nextWaiting returns the oldest snapshot that is not scored, or NoTimestep,
// and whether its turn has come: the one before it is known and done.
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

// nextAfter returns the first snapshot seen behind t, or NoTimestep.
func (s stream) nextAfter(t lethe.Timestep) lethe.Timestep {
	for _, at := range s.known() {
		if at > t {
			return at
		}
	}
	return lethe.NoTimestep
}

// stepsBefore walks back n snapshots from t. It is not known which one that is
// while one is missing on the way: it is gone, and that behind it was not relinked
// yet, or it has still to arrive.
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

// nextLate returns the oldest snapshot that late transactions joined and whose alerts have their reasons, if there is
// one: those are of the ensemble that made them.
func (s stream) nextLate() (lethe.Timestep, bool) {
	for _, t := range s.known() {
		if s[t].late && s[t].owed != owesNew {
			return t, true
		}
	}
	return lethe.NoTimestep, false
}

// owesAgain reports whether a timestep owes reasons anew.
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

// needed returns the oldest timestep through which models may still be asked for, or
// NoTimestep for all: that of the served ensemble, or of the one that is waited for.
func (s *state) needed(labelLagTimesteps int) lethe.Timestep {
	if s.served != nil {
		return s.served.Through
	}
	before, steps := s.links.lastSeen(), labelLagTimesteps
	if t, _ := s.links.nextWaiting(); t != lethe.NoTimestep {
		before, steps = t, 1+labelLagTimesteps
	}
	through, _ := s.links.stepsBefore(before, steps)
	return through
}

// scored says which timesteps are scored, or stay unscored.
func (s stream) scored() *journal.Scored {
	out := &journal.Scored{Through: lethe.NoTimestep}
	var waiting []lethe.Timestep
	for _, t := range s.known() {
		if s[t].done {
			out.Through, out.But = t, slices.Concat(out.But, waiting)
			waiting = nil
			continue
		}
		waiting = append(waiting, t)
	}
	return out
}

const (
	// passTick is how often a process that stands by looks whether it waits for what is gone.
	passTick = 500 * time.Millisecond
	// passTicks is for how many of them it waits for models that may be on their way.
	passTicks = 4
)

// passing is what a process that stands by waits for.
type passing struct {
	// told is what who leads has said of what it serves and has scored, nil before that.
	told *journal.Served
	// at is the timestep whose models it lacks, for so many ticks.
	at    lethe.Timestep
	ticks int
}

// ticked notes that time has passed.
func (p *passing) ticked() { p.ticks++ }

// mayScore reports whether a process that stands by may score a timestep: who leads has said that it has. Else it
// might note what nobody has published, for it comes to models and slices in another order, and may have an ensemble
// that the other one never had
func (p *passing) mayScore(t lethe.Timestep) bool {
	return p.told != nil && (p.told.Scored == nil || p.told.Scored.Holds(t))
}

// pass has a process that stands by pass over a timestep that who leads has scored, if its models
// are gone: train keeps none that who leads needs no more, and this process was not there, or is
// slow. Its transactions count as those that came late: they have predictions, which are not
// measured here.
func (p *passing) pass(l *logic, t, needs lethe.Timestep) (bool, error) {
	if !l.o.Standing.StandsBy() || needs == lethe.NoTimestep || !p.mayScore(t) || p.told.Through <= needs {
		return false, nil
	}
	if p.at != t {
		p.at, p.ticks = t, 0
	}
	if p.ticks < passTicks {
		return false, nil
	}
	p.at = l.state.links.nextAfter(t) // it has waited long enough for this one, too
	return true, passOver(l, t)
}

// passScored passes over the timesteps that wait here and that who led before has scored: this process may lack their
// models, have others of slices that have changed since, or have heard of it just now.
func passScored(l *logic) error {
	for _, t := range l.state.links.known() {
		wanted, known := l.state.links.stepsBefore(t, 1+l.o.Scoring.LabelLagTimesteps)
		if l.state.links[t].done || !l.said.Scored.Holds(t) || known && wanted == lethe.NoTimestep {
			continue
		}
		if err := passOver(l, t); err != nil {
			return err
		}
	}
	return nil
}

// passOver has the transactions of a timestep that another process has scored count as scored late.
func passOver(l *logic, t lethe.Timestep) error {
	snapshot, err := l.state.snapshot(t)
	if err != nil {
		return err
	}
	said := &published{threshold: math.NaN()}
	for _, n := range snapshot.Nodes {
		said.late = append(said.late, n.Pseudonym)
	}
	l.arrivals.past(said.late)
	l.o.Logger.Warn("score: a timestep that another process has scored is passed over: its models are gone, or have "+
		"changed since", "timestep", t)
	return l.finish(t, said, nil)
}

// owing returns the timestep whose reasons are to be made next, or NoTimestep: before all one that an erasure waits
// for, or late transactions, then the newest.
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
