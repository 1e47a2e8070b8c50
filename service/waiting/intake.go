package waiting

import (
	"maps"
	"sync"
	"time"
)

// Intake measures the outcome of the latest records of each topic: those of the current interval, and of the
// previous one until the current one is sufficient by itself: it has lasted for some time and has some records. A
// topic without new records keeps its last outcome, but its rejections are forgotten some time after the last one:
// from then on they are only counted (Rejected). It is safe for concurrent use.
type Intake struct {
	after, forget time.Duration
	now           func() time.Time

	mu       sync.Mutex
	topics   map[string]*intervals
	rejected int64
}

type intervals struct {
	began, rejected  time.Time
	current, earlier Outcome
}

// NewIntake returns an Intake whose intervals last at least after, and which forgets rejections after
// forget.
func NewIntake(after, forget time.Duration, now func() time.Time) *Intake {
	return &Intake{after: after, forget: forget, now: now, topics: make(map[string]*intervals)}
}

// Accept counts records of a topic that were accepted.
func (i *Intake) Accept(topic string, n int) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.at(topic).current.Accepted += n
}

// Reject counts a rejected record, whether it was rejected at once or once its timestep was over.
func (i *Intake) Reject(topic, reason string) {
	i.mu.Lock()
	defer i.mu.Unlock()
	of := i.at(topic)
	of.rejected = i.now()
	current := &of.current
	if current.Reasons == nil {
		current.Reasons = make(map[string]int)
	}
	current.Rejected++
	current.Reasons[reason]++
	i.rejected++
}

// at returns the intervals of a topic, and starts a new one if the current one is over. The caller
// holds mu.
func (i *Intake) at(topic string) *intervals {
	now, of := i.now(), i.topics[topic]
	if of == nil {
		of = &intervals{began: now}
		i.topics[topic] = of
	}
	i.forgetIn(of)
	if c := of.current; now.Sub(of.began) >= i.after && (c.isEnough() || c.alike()) {
		of.began, of.earlier, of.current = now, of.current, Outcome{}
	}
	return of
}

// forgetIn forgets rejections if the last one is long ago. The caller holds mu.
func (i *Intake) forgetIn(of *intervals) {
	if i.now().Sub(of.rejected) >= i.forget {
		of.current, of.earlier = Outcome{Accepted: of.current.Accepted}, Outcome{Accepted: of.earlier.Accepted}
	}
}

// alike reports whether there are records, and all were accepted, or all rejected.
func (o Outcome) alike() bool { return (o.Accepted == 0) != (o.Rejected == 0) }

// isEnough reports whether an outcome has enough records to be judged alone.
func (o Outcome) isEnough() bool {
	all := o.Accepted + o.Rejected
	return all >= fewRejected || all >= fewAlike && o.alike()
}

// Rejected counts all rejected records.
func (i *Intake) Rejected() int64 {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.rejected
}

// Outcomes returns the outcome of the latest records, by topic.
func (i *Intake) Outcomes() map[string]Outcome {
	i.mu.Lock()
	defer i.mu.Unlock()
	out := make(map[string]Outcome)
	for topic, of := range i.topics {
		i.forgetIn(of)
		before := of.earlier
		if of.current.isEnough() && i.now().Sub(of.began) >= i.after {
			before = Outcome{}
		}
		o := Outcome{
			Accepted: before.Accepted + of.current.Accepted, Rejected: before.Rejected + of.current.Rejected,
			Reasons: make(map[string]int),
		}
		maps.Copy(o.Reasons, before.Reasons)
		for reason, n := range of.current.Reasons {
			o.Reasons[reason] += n
		}
		out[topic] = o
	}
	return out
}
