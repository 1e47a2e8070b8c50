package timesteps

import (
	"time"

	"lethe"
	"lethe/metrics/events"
	"lethe/snapshot"
)

// observer notifies the listener of timesteps, and remembers the publications of this run; the store has durable
// marks.
type observer struct {
	listener events.Listener
	now      func() time.Time
	// published are the states in which timesteps were published.
	published map[lethe.Timestep]published
	// begun are the timesteps reported as open.
	begun map[lethe.Timestep]bool
}

// published is the state of a timestep, and its last revision by reopening.
type published struct {
	state    lethe.State
	reopened lethe.Revision
}

// begins reports new open timesteps.
func (t *observer) begins(infos []snapshot.Info) {
	for _, info := range infos {
		if info.State == lethe.Open && !t.begun[info.Timestep] {
			t.begun[info.Timestep] = true
			t.listener(events.SnapshotChanged{Timestep: info.Timestep, State: lethe.Open})
		}
	}
}

// changed reports a new state of a timestep, and how long reaching it took.
func (t *observer) changed(at lethe.Timestep, state lethe.State, started time.Time) {
	t.listener(events.SnapshotChanged{Timestep: at, State: state, Duration: t.now().Sub(started)})
}
