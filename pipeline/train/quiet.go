package train

import (
	"slices"

	"lethe"
	"lethe/pipeline/wire"
)

// quietTicks is after how many ticks without a replaced slice no more are expected.
const quietTicks = 2

// quiet tells whether slices have been replaced a moment ago, so that others are likely
// to follow: an erasure replaces those of several shards and timesteps. It decides when
// a model is fitted and never what comes out.
type quiet struct {
	left    int
	changes []place
}

// place is where a slice belongs.
type place struct {
	shard lethe.ShardID
	at    lethe.Timestep
}

// is reports whether nothing is expected.
func (q *quiet) is() bool { return q.left == 0 }

// changed notes that a slice was replaced.
func (q *quiet) changed(key wire.Key) {
	q.left = quietTicks
	q.changes = append(q.changes, place{key.Shard, key.Timestep})
}

// ticked notes that time has passed.
func (q *quiet) ticked() {
	if q.left > 0 {
		q.left--
	}
	if q.left == 0 {
		q.changes = nil
	}
}

// announced takes in a command, which comes behind the slices that it replaces: if it
// names all that were, nothing is waited for.
func (q *quiet) announced(c *wire.Command) {
	unnamed := func(p place) bool {
		return !slices.ContainsFunc(c.Steps, func(step wire.CommandStep) bool {
			return step.Timestep == p.at && slices.Contains(step.Shards, p.shard)
		})
	}
	if !slices.ContainsFunc(q.changes, unnamed) {
		q.left, q.changes = 0, nil
	}
}
