package worlds

import (
	"context"
	"fmt"
	"math/rand/v2"

	"lethe/ingest/bus"
)

// change is what happens to one of the processes of a role of which one leads: it leaves as if
// killed, with its machine or without it; it comes back; it hangs, at once or at a write; it goes
// on after it hung, while another one leads; or brokers have it lead. Any process may be cut off from
// its brokers for some turns.
type change struct {
	role    string
	what    string
	number  int
	machine bool
	fault   fault
}

const (
	leaves = "leaves"
	joins  = "joins"
	hangs  = "hangs"
	wakes  = "wakes"
	leads  = "leads"
	loses  = "loses its folder"
	cut    = "is cut off"
)

// String implements fmt.Stringer.
func (c change) String() string {
	return fmt.Sprintf("%s: process %d %s (with its machine: %v, %+v)",
		c.role, c.number+1, c.what, c.machine, c.fault)
}

// led draws that one process leads graphs and erasures, or score, while others stand by, and what
// happens to them.
func (d *drawing) led(chance *rand.Rand) {
	d.builders, d.scorers = chance.IntN(4), chance.IntN(4)
	if d.builders+d.scorers < 2 {
		d.builders, d.scorers = 2, 2
	}
	for _, of := range []struct {
		role      string
		processes int
	}{{ofGraphs, d.builders}, {ofScore, d.scorers}} {
		if of.processes == 0 {
			continue
		}
		for range 1 + chance.IntN(6) {
			c := change{role: of.role, number: chance.IntN(of.processes)}
			c.what = []string{leaves, leaves, joins, hangs, hangs, wakes, leads}[chance.IntN(7)]
			c.machine, c.fault = chance.IntN(2) == 0, aFault(chance)
			c.fault.turns = 0
			d.insert(chance.IntN(len(d.events)+1), operation{change: &c})
		}
	}
	d.hangTogether(chance)
}

// hangTogether draws, in some worlds, that each process that scores hangs at its next predictions: one after the other
// takes over, and publishes nothing of what the first had decided.
func (d *drawing) hangTogether(chance *rand.Rand) {
	if d.scorers < 2 || chance.IntN(3) > 0 {
		return
	}
	at := chance.IntN(len(d.events) + 1)
	for number := range d.scorers {
		f := fault{writes: 1, topic: bus.Predictions}
		d.insert(at, operation{change: &change{role: ofScore, what: hangs, number: number, fault: f}})
	}
}

// aFault draws what keeps a process from its brokers.
func aFault(chance *rand.Rand) fault {
	return fault{
		writes: chance.IntN(6), part: float64(chance.IntN(2)) * chance.Float64(), turns: 1 + chance.IntN(40),
	}
}

// faults draws that processes are kept from their brokers, and what they wrote then arrives or not.
func (d *drawing) faults(chance *rand.Rand) {
	for range chance.IntN(6) {
		of := chance.IntN(4)
		c := change{what: cut, role: []string{ofGraphs, ofScore, ofTrain, ofView}[of], fault: aFault(chance)}
		c.number = chance.IntN(max(1, []int{d.builders, d.scorers, d.trainers, 1}[of]))
		d.insert(chance.IntN(len(d.events)+1), operation{change: &c})
	}
}

// threadOf is that of a process, nil if it is away.
func (d *deployment) threadOf(role string, number int) *thread {
	if g := d.group(role); g != nil {
		if h := g.hosts[number]; h != nil && !h.hangs() {
			return &h.thread
		}
		return nil
	}
	if role == ofTrain {
		if t := d.trainers[number]; t != nil {
			return &t.thread
		}
		return nil
	}
	for _, r := range d.roles {
		if r.follower.Name() == role {
			return &r.thread
		}
	}
	return nil
}

// change has something happen to a process.
func (d *deployment) change(ctx context.Context, c change) error {
	if c.what == cut {
		if t := d.threadOf(c.role, c.number); t != nil && t.fault == nil {
			t.fault = &c.fault
		}
		return nil
	}
	g := d.group(c.role)
	h := g.hosts[c.number]
	switch {
	case c.what == joins && h == nil:
		if err := d.begin(ctx, g, c.number); err != nil {
			return err
		}
		g.elect()
		return nil
	case h == nil:
		return nil
	case c.what == leaves, c.what == loses:
		g.hosts[c.number], g.away[c.number], g.hangs[c.number] = nil, true, false
		err := d.killed(g.folder(c.number), c.machine, h.end)
		if err == nil && c.what == loses {
			err = d.lose(ctx, loss{c.role, c.number})
		}
		g.elect()
		return err
	case c.what == wakes:
		return h.wake()
	case g.hangs[c.number]:
		return nil
	case c.what == leads:
		g.leader = c.number
		g.elect()
	case c.what == hangs && c.fault.writes > 0:
		h.fault = &c.fault
	case c.what == hangs:
		g.hangs[c.number] = true
		g.elect()
	}
	return nil
}

// wake has a process go on that hung. Brokers have told it who leads by the time it does anything
// but what it was about to write.
func (h *host) wake() error {
	if !h.hangs() {
		return nil
	}
	h.group.hangs[h.number], h.fault = false, nil
	h.group.elect()
	_, err := h.after(true, h.resume())
	return err
}

// gather has every process at work.
func (d *deployment) gatherGroups(ctx context.Context) error {
	for _, g := range d.groups {
		for i, h := range g.hosts {
			if h != nil && !h.hung {
				h.fault = nil
			}
			for _, what := range []string{joins, wakes} {
				if err := d.change(ctx, change{role: g.role, number: i, what: what}); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// String says what is done.
func (o operation) String() string {
	switch {
	case o.hold != nil:
		return fmt.Sprintf("hold %v %v until %v", o.hold.Transactions, o.hold.Subjects, o.hold.Until)
	case o.lift != "":
		return "lift " + o.lift
	case o.cancel != nil:
		return "cancel " + o.cancel.RequestID
	case o.aborted != nil:
		return fmt.Sprintf("aborted %s: %q %s", o.aborted.topic, o.aborted.record.Key, o.aborted.record.Value)
	case o.opened != nil:
		return fmt.Sprintf("opened %s: %q %s", o.opened.topic, o.opened.record.Key, o.opened.record.Value)
	case o.ended != nil:
		return fmt.Sprintf("ends in %s, committed: %v", o.ended.TopicPartition, o.ended.commit)
	case o.unreadable != nil:
		return fmt.Sprintf("nobody can read a batch of %s", o.unreadable)
	case o.asked != nil:
		return fmt.Sprintf("asked %q %s", o.asked.Key, o.asked.Value)
	case o.shift != nil:
		return o.shift.String()
	case o.change != nil:
		return o.change.String()
	case o.pause:
		return "pause"
	case o.passes:
		return "time passes"
	case o.backup:
		return "backup"
	default:
		return "restore"
	}
}
