package settle

import (
	"time"

	"lethe"
	"lethe/metrics/events"
	"lethe/snapshot"
)

// told is what the listener was told of timesteps, and what was published of them in this run: the durable marks are in
// the store.
type told struct {
	listener events.Listener
	now      func() time.Time
	// published are the states in which timesteps were published.
	published map[lethe.Timestep]published
	// begun are the timesteps that were told of as open.
	begun map[lethe.Timestep]bool
}

// published is a state of a timestep, and the revision that it was reopened with last.
type published struct {
	state    lethe.State
	reopened lethe.Revision
}

// begins tells of open timesteps that are new.
func (t *told) begins(infos []snapshot.Info) {
	for _, info := range infos {
		if info.State == lethe.Open && !t.begun[info.Timestep] {
			t.begun[info.Timestep] = true
			t.listener.SnapshotChanged(events.SnapshotChanged{Timestep: info.Timestep, State: lethe.Open})
		}
	}
}

// changed tells of a state that took until now to reach.
func (t *told) changed(at lethe.Timestep, state lethe.State, started time.Time) {
	t.listener.SnapshotChanged(events.SnapshotChanged{Timestep: at, State: state, Duration: t.now().Sub(started)})
}
