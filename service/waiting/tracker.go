package waiting

import (
	"slices"
	"time"
)

// Tracker determines which conditions have held long enough to be waits, and since when. It is not safe for
// concurrent use.
type Tracker struct {
	held map[string]held
	last []Wait
	// logged is when a cause was last logged.
	logged map[Cause]time.Time
}

type held struct {
	sign  string
	since time.Time
}

// Change is an update to log.
type Change struct {
	Wait
	// Ended means that the cause is over.
	Ended bool
}

// NewTracker returns a Tracker without conditions.
func NewTracker() *Tracker {
	return &Tracker{held: make(map[string]held), logged: make(map[Cause]time.Time)}
}

// remindAfter is how often a lasting cause is logged.
const remindAfter = time.Minute

// Update processes the current facts, and returns the current waits and the changes to log: one line for a cause that
// begins, lasts for another minute or ends.
func (t *Tracker) Update(f Facts) (waits []Wait, log []Change) {
	now, current := f.Now, make(map[string]held)
	waits = []Wait{}
	for _, c := range Find(f) {
		h, known := t.held[c.key()]
		if !known || h.sign != c.Sign {
			h = held{c.Sign, now}
		}
		current[c.key()] = h
		if now.Sub(h.since) >= c.Lasts {
			c.Since = h.since
			waits = append(waits, c.Wait)
		}
	}
	t.held = current
	for _, cause := range Causes() {
		of := func(w Wait) bool { return w.Cause == cause }
		last, was := t.logged[cause]
		switch at := slices.IndexFunc(waits, of); {
		case at < 0 && was:
			delete(t.logged, cause)
			ended := t.last[slices.IndexFunc(t.last, of)]
			log = append(log, Change{ended, true})
		case at >= 0 && (!was || now.Sub(last) >= remindAfter):
			t.logged[cause] = now
			log = append(log, Change{waits[at], false})
		}
	}
	t.last = waits
	return waits, log
}
