package waiting

import (
	"slices"
	"time"
)

// Tracker tells which conditions have held for long enough to be waits, and since when. It is for one goroutine.
type Tracker struct {
	held map[string]held
	told []Wait
	// logged is when the log last named a cause.
	logged map[Cause]time.Time
}

type held struct {
	sign  string
	since time.Time
}

// Change is what the log says after an update.
type Change struct {
	Wait
	// Ended says that the cause is over.
	Ended bool
}

// NewTracker returns one that knows of no conditions.
func NewTracker() *Tracker {
	return &Tracker{held: make(map[string]held), logged: make(map[Cause]time.Time)}
}

// remindAfter is how often the log names a cause that lasts.
const remindAfter = time.Minute

// Update takes the facts of now, and returns what is waited for and what is to be logged: one line for a cause that
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
			ended := t.told[slices.IndexFunc(t.told, of)]
			log = append(log, Change{ended, true})
		case at >= 0 && (!was || now.Sub(last) >= remindAfter):
			t.logged[cause] = now
			log = append(log, Change{waits[at], false})
		}
	}
	t.told = waits
	return waits, log
}
