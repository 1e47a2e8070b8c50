package score

import (
	"math"
	"time"

	"lethe"
)

const (
	// passTick is how often a process that stands by looks whether it waits for what is gone.
	passTick = 500 * time.Millisecond
	// passTicks is for how many of them it waits for models that may be on their way.
	passTicks = 4
)

// passing is what a process that stands by waits for.
type passing struct {
	// told is through which timestep the models are that who leads serves, or waits for.
	told lethe.Timestep
	// at is the timestep whose models it lacks, for so many ticks.
	at    lethe.Timestep
	ticks int
}

// ticked notes that time has passed.
func (p *passing) ticked() { p.ticks++ }

// pass has a process that stands by pass over a timestep that who leads has scored, if its models
// are gone: train keeps none that who leads needs no more, and this process was not there, or is
// slow. Its transactions count as those that came late: they have predictions, which are not
// measured here.
func (p *passing) pass(l *logic, t, needs lethe.Timestep) (bool, error) {
	if !l.o.Standing.StandsBy() || needs == lethe.NoTimestep || p.told <= needs {
		return false, nil
	}
	if p.at != t {
		p.at, p.ticks = t, 0
	}
	if p.ticks < passTicks {
		return false, nil
	}
	p.at = l.state.links.nextAfter(t) // it has waited long enough for this one, too
	snapshot, err := l.state.snapshot(t)
	if err != nil {
		return false, err
	}
	said := &published{threshold: math.NaN()}
	for _, n := range snapshot.Nodes {
		said.late = append(said.late, n.Pseudonym)
	}
	l.o.Logger.Warn("score: models of a timestep are gone that another process has scored: it is passed over",
		"timestep", t)
	return true, l.finish(t, said, nil)
}
