package train

import (
	"slices"

	"lethe"
	"lethe/pipeline/wire"
)

const (
	// quietTicks is after how many ticks without a replaced slice no more are expected.
	quietTicks = 2
	// patientTicks is how many ticks are waited for slices at most, however many come.
	patientTicks = 100
)

// quiet tells whether slices have been replaced a moment ago, so that others are likely
// to follow: an erasure replaces those of several shards and timesteps. It decides when
// a model is trained and never what comes out.
type quiet struct {
	left    int
	changes []place
	// awaited says that a command names slices that are not in place yet.
	awaited bool
	// waited is how many ticks have passed since nothing was expected.
	waited int
}

// place is where a slice belongs.
type place struct {
	shard lethe.ShardID
	at    lethe.Timestep
}

// is reports whether nothing is expected.
func (q *quiet) is() bool { return q.left == 0 && !q.awaited || q.waited >= patientTicks }

// changed notes that a slice was replaced.
func (q *quiet) changed(key wire.Key) {
	q.left = quietTicks
	q.changes = append(q.changes, place{key.Shard, key.Timestep})
}

// ticked notes that time has passed.
func (q *quiet) ticked() {
	q.left = max(0, q.left-1)
	q.waited++
	q.settle()
}

// settle forgets what was waited for, once nothing is expected.
func (q *quiet) settle() {
	if q.left == 0 && !q.awaited {
		q.waited, q.changes = 0, nil
	}
}

// announced takes in the commands under way, which come behind the slices that they
// replace: nothing is waited for if these are in place, and those that were replaced are
// all named by one of them.
func (q *quiet) announced(commands []*wire.Command, inPlace func(*wire.Command) bool) {
	q.awaited = false
	for _, c := range commands {
		if !inPlace(c) {
			q.awaited = true
		} else if !slices.ContainsFunc(q.changes, func(p place) bool { return !names(c, p) }) {
			q.left = 0
		}
	}
	q.settle()
}

// names reports whether a command says that a slice is replaced.
func names(c *wire.Command, p place) bool {
	return slices.ContainsFunc(c.Steps, func(step wire.CommandStep) bool {
		return step.Timestep == p.at && slices.Contains(step.Shards, p.shard)
	})
}
