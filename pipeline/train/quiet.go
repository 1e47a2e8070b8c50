package train

import (
	"slices"

	"lethe"
	"lethe/ingest/bus"
	"lethe/pipeline/wire"
)

const (
	// quietTicks is after how many ticks without a replaced slice no more are expected.
	quietTicks = 2
	// silentTicks is after how many ticks without a batch no more are expected at once.
	silentTicks = 3
	// patientTicks is how many ticks are waited for slices at most, however many come.
	patientTicks = 100
)

// quiet tells whether slices are arriving, or have been replaced a moment ago, so that others are likely
// to follow: an erasure replaces those of several shards and timesteps. It decides when
// a model is trained and never what comes out.
type quiet struct {
	// unread are the partitions of slices.v1 of which the broker had more than was read last, and silent is how many
	// ticks ago that was: one whose broker is away keeps nobody from training for long.
	unread  map[int]bool
	silent  int
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

// read notes a batch of any topic.
func (q *quiet) read(b bus.Batch) {
	if b.Source.Topic != bus.Slices {
		return
	}
	q.silent = 0
	if b.Next < b.End {
		q.unread[b.Source.Partition] = true
	} else {
		delete(q.unread, b.Source.Partition)
	}
}

// arriving reports whether more slices than were read are on their way from the broker.
func (q *quiet) arriving() bool { return len(q.unread) > 0 }

// changed notes that a slice was replaced.
func (q *quiet) changed(key wire.Key) {
	q.left = quietTicks
	q.changes = append(q.changes, place{key.Shard, key.Timestep})
}

// ticked notes that time has passed.
func (q *quiet) ticked() {
	q.left = max(0, q.left-1)
	q.waited++
	if q.silent++; q.silent >= silentTicks {
		clear(q.unread)
	}
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
