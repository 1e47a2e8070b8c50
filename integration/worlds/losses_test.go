package worlds

import (
	"context"
	"math/rand/v2"
	"slices"

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
	from, to := d.two(chance)
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
	d.has(at, from, to)
}

// two are those between whom models go.
func (d *drawing) two(chance *rand.Rand) (from, to int) {
	from = chance.IntN(d.trainers)
	return from, (from + 1 + chance.IntN(d.trainers-1)) % d.trainers
}

// goes has all models go to somebody.
func goes(to, deaf int) operation {
	s := shift{leaves: nobody, joins: nobody, deaf: deaf}
	for range partitions[bus.Slices] {
		s.owners = append(s.owners, to)
	}
	return operation{shift: &s}
}

// has has somebody have all models, and another one stand by, before an event.
func (d *drawing) has(at, who, another int) {
	d.insert(at, operation{pause: true}) // or the other would come to it later, and adopt what was made meanwhile
	d.insert(at, goes(who, nobody))
	for _, joins := range []int{who, another} {
		d.insert(at, operation{shift: &shift{leaves: nobody, joins: joins, deaf: nobody}})
	}
}

const (
	// longTurns are those that somebody is cut off at least who comes back to slices that were replaced.
	longTurns = 60
	// longTicks pass meanwhile, passTurns turns each, so that what was learnt from these is learnt anew.
	longTicks, passTurns = 8, 4
)

// outdated draws that who trains is cut off as it writes what it made; then a record comes late, another one trains
// anew what it changes, and the former writes last what is wrong by then. Then everything comes to rest.
func (d *drawing) outdated(chance *rand.Rand) {
	var ends []int
	for i, e := range d.events {
		if e.settles() && len(d.late(i)) > 0 {
			ends = append(ends, i)
		}
	}
	if len(ends) == 0 || chance.IntN(2) == 0 {
		return
	}
	at := ends[chance.IntN(len(ends))]
	late := d.late(at)
	moved := late[chance.IntN(len(late))]
	e := d.events[moved]
	d.events = slices.Delete(d.events, moved, moved+1)
	at--
	from, to := d.two(chance)
	d.events[at].polls, e.polls = max(d.events[at].polls, 10+chance.IntN(10)), 4+chance.IntN(5)
	d.insert(at+1, operation{pause: true})
	d.insert(at+1, operation{passes: true})
	d.events = slices.Insert(d.events, at+1, e)
	d.insert(at+1, goes(to, nobody))
	off := fault{writes: 1 + chance.IntN(3), turns: longTurns + chance.IntN(longTurns)}
	d.insert(at, operation{change: &change{what: cut, role: ofTrain, number: from, fault: off}})
	d.has(at, from, to)
}

// late are the records of transactions before an event that may come behind it: of two with one key the last wins,
// and what operators do and ask for stays behind what was sent before.
func (d *drawing) late(before int) (out []int) {
	for i, e := range d.events[:max(0, before)] {
		if o := e.operation; e.request != nil || o != nil && o.shift == nil && o.change == nil && !o.pause {
			out = nil
			continue
		}
		again := func(other event) bool { return slices.Equal(other.record.Key, e.record.Key) }
		if len(e.names) > 0 && len(e.subjects) == 0 && e.behind == "" && e.polls < everythingRead &&
			!slices.ContainsFunc(d.events[i+1:before], again) {
			out = append(out, i)
		}
	}
	return out
}

// pass lets time pass, though somebody is cut off.
func (s *simulation) pass(ctx context.Context) error {
	for range longTicks {
		if err := s.current.tick(ctx, tickInterval); err != nil {
			return err
		}
		for range passTurns {
			if _, err := s.current.poll(ctx); err != nil {
				return err
			}
		}
		if err := s.restart(ctx); err != nil {
			return err
		}
	}
	return nil
}
