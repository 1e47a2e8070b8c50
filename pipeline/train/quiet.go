package train

import (
	"slices"

	"lethe"
	"lethe/ingest/bus"
	"lethe/pipeline/wire"
)

const (
	// quietTicks without a replaced slice end the waiting.
	quietTicks = 2
	// silentTicks without a batch end the waiting for a broker.
	silentTicks = 3
	// patientTicks bound the waiting.
	patientTicks = 100
)

// quiet decides whether to wait for more replaced slices, as an erasure replaces many. It affects when a model is
// trained, never the result.
type quiet struct {
	// unread are partitions with more to read, silent the ticks since the last batch: an absent broker must not delay
	// training.
	unread  map[int]bool
	silent  int
	left    int
	changes []place
	// awaited: a command names slices that have not arrived.
	awaited bool
	// waited is the ticks since nothing was expected.
	waited int
}

type place struct {
	shard lethe.ShardID
	at    lethe.Timestep
}

// is reports whether nothing is expected.
func (q *quiet) is() bool { return q.left == 0 && !q.awaited || q.waited >= patientTicks }

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

// arriving reports whether brokers have more slices.
func (q *quiet) arriving() bool { return len(q.unread) > 0 }

func (q *quiet) changed(key wire.Key) {
	q.left = quietTicks
	q.changes = append(q.changes, place{key.Shard, key.Timestep})
}

func (q *quiet) ticked() {
	q.left = max(0, q.left-1)
	q.waited++
	if q.silent++; q.silent >= silentTicks {
		clear(q.unread)
	}
	q.settle()
}

func (q *quiet) settle() {
	if q.left == 0 && !q.awaited {
		q.waited, q.changes = 0, nil
	}
}

// announced processes the open commands, which come behind their slices: the waiting ends if these have arrived and
// explain all replaced ones.
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

// names reports whether a command replaces a slice.
func names(c *wire.Command, p place) bool {
	return slices.ContainsFunc(c.Steps, func(step wire.CommandStep) bool {
		return step.Timestep == p.at && slices.Contains(step.Shards, p.shard)
	})
}
