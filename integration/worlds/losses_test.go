package worlds

import (
	"math/rand/v2"

	"lethe/ingest/bus"
)

// losses draws that what somebody trains goes to another one as slices come: the former has not heard of
// it, or was cut off as it wrote, so that both make the same, and who has lost it may publish last. Then
// everything comes to rest.
func (d *drawing) losses(chance *rand.Rand) {
	for at := len(d.events) - 1; at >= 0; at-- {
		if d.events[at].settles() && chance.IntN(2) == 0 {
			d.loss(at, chance)
		}
	}
}

// settles reports whether an event is the last of those that end a timestep.
func (e event) settles() bool {
	return e.topic == bus.Labels && e.record.Pinned && e.record.Partition == partitions[bus.Labels]-1
}

// loss draws one, around an event.
func (d *drawing) loss(at int, chance *rand.Rand) {
	from := chance.IntN(d.trainers)
	to := (from + 1 + chance.IntN(d.trainers-1)) % d.trainers
	goes := func(to, deaf int) operation {
		s := shift{leaves: nobody, joins: nobody, deaf: deaf}
		for range partitions[bus.Slices] {
			s.owners = append(s.owners, to)
		}
		return operation{shift: &s}
	}
	d.insert(at+1, operation{pause: true})
	if chance.IntN(2) == 0 {
		d.insert(at, goes(to, from))
	} else {
		// Whoever is cut off writes again what brokers did not answer, under the name that it had.
		d.insert(at+1, goes(to, nobody))
		off := aFault(chance)
		off.writes, off.turns = 1+chance.IntN(3), off.turns+5
		d.insert(at, operation{change: &change{what: cut, role: ofTrain, number: from, fault: off}})
	}
	d.insert(at, operation{pause: true}) // or the other would come to it later, and adopt what was made meanwhile
	d.insert(at, goes(from, nobody))
	for _, who := range []int{from, to} {
		d.insert(at, operation{shift: &shift{leaves: nobody, joins: who, deaf: nobody}})
	}
}
