package coordinator

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"lethe"
	"lethe/deletions"
	"lethe/deletions/late"
	"lethe/ingest"
	"lethe/ingest/bus"
)

// job is a request whose targets are still needed. They are in memory and in
// erasures.v1, nowhere else.
type job struct {
	request     lethe.ErasureRequest
	requestedAt time.Time
	source      bus.TopicPartition
	// next is the offset to commit once the targets are not needed any more.
	next int64
}

// targets are what the request names, each once.
func (j *job) targets() []lethe.Target { return distinct([][]lethe.Target{j.request.Targets}) }

// jobs are in the order received.
type jobs struct {
	list   []job
	notes  Notes
	secret lethe.Secret
}

// of returns a request's job, or nil.
func (j *jobs) of(requestID string) *job {
	for i := range j.list {
		if j.list[i].request.RequestID == requestID {
			return &j.list[i]
		}
	}
	return nil
}

// put adds a job, or replaces that of the same request: its record was read again.
func (j *jobs) put(one job) {
	if known := j.of(one.request.RequestID); known != nil {
		*known = one
		return
	}
	j.list = append(j.list, one)
}

// targets returns what each request of a batch names, or false as long as some have
// not been read again.
func (j *jobs) targets(b batch) (out [][]lethe.Target, known bool) {
	for _, e := range b.members {
		one := j.of(e.RequestID)
		if one == nil {
			return nil, false
		}
		out = append(out, e.Complete(j.secret, one.targets()))
	}
	return out, true
}

// done forgets the requests of a batch, whose targets are not needed any more. How far a
// partition was dealt with is stored once for all of them: each time waits for the disk.
func (j *jobs) done(b batch) error {
	furthest := make(map[bus.TopicPartition]int64)
	for _, id := range b.ids() {
		if one := j.of(id); one != nil {
			furthest[one.source] = max(furthest[one.source], one.next)
			j.drop(id)
		}
	}
	for source, next := range furthest {
		if err := j.commit(source, next); err != nil {
			return err
		}
	}
	return nil
}

func (j *jobs) drop(requestID string) {
	j.list = slices.DeleteFunc(j.list, func(one job) bool { return one.request.RequestID == requestID })
}

// commit stores how far erasures.v1 has been dealt with, but never past a request
// whose targets are still needed.
func (j *jobs) commit(source bus.TopicPartition, next int64) error {
	for _, one := range j.list {
		next = min(next, one.next-1)
	}
	return j.notes.Commit(source, next)
}

// needsTargets reports whether a request's records are still to be rewritten, by this process or by one that stands by,
// or to be withdrawn from the topics.
func needsTargets(e deletions.Entry) bool { return e.Stage() != deletions.Received && !isPurged(e) }

// record is the request as it stands in erasures.v1.
func (j *job) record(partition int) (ingest.Outgoing, error) {
	key, value, err := ingest.EncodeErasure(j.request, j.requestedAt)
	if err != nil {
		return ingest.Outgoing{}, fmt.Errorf("request %s: %w", j.request.RequestID, err)
	}
	return ingest.Outgoing{Key: key, Value: value, Pinned: true, Partition: partition}, nil
}

// byDeadline puts requests with a deadline in front, the first deadline first, and keeps the
// order of the others.
func byDeadline(list []deletions.Entry) {
	slices.SortStableFunc(list, func(a, b deletions.Entry) int {
		switch {
		case a.Deadline.Equal(b.Deadline):
			return 0
		case a.Deadline.IsZero():
			return 1
		case b.Deadline.IsZero():
			return -1
		default:
			return a.Deadline.Compare(b.Deadline)
		}
	})
}

// byReceipt puts requests in the order received, as the ledger lists them.
func byReceipt(list []deletions.Entry) {
	slices.SortFunc(list, func(a, b deletions.Entry) int {
		return cmp.Or(a.Received().Compare(b.Received()), cmp.Compare(a.RequestID, b.RequestID))
	})
}

// bounded is when a batch begins of which the first deadline is this: a request does not
// wait for others past its deadline.
func bounded(due, deadline time.Time) time.Time {
	if !deadline.IsZero() && deadline.Before(due) {
		return deadline
	}
	return due
}

// deadlines notices which deadlines of open requests have passed.
type deadlines struct {
	*states
	// next is the first that has not passed, or zero.
	next time.Time
}

// overdue returns the open requests. It notes, and says, of which the deadline has passed
// since.
func (s *deadlines) overdue(ctx context.Context) (open []deletions.Entry, err error) {
	if open, err = s.o.Ledger.Open(); err != nil {
		return nil, err
	}
	var late []string
	now := s.o.Clock.Now()
	s.next = time.Time{}
	for _, e := range open {
		switch {
		case e.Deadline.IsZero() || e.Progress.Overdue || e.State == deletions.Received:
		case e.Deadline.Before(now):
			late = append(late, e.RequestID)
		case s.next.IsZero() || e.Deadline.Before(s.next):
			s.next = e.Deadline
		}
	}
	if len(late) == 0 {
		return open, nil
	}
	noted, err := s.o.Ledger.UpdateAll(late, func(_ int, p *deletions.Progress) { p.Overdue = true })
	if err != nil {
		return nil, err
	}
	s.o.Logger.Warn("erasures are overdue", "requests", len(noted), "request_id", noted[0].RequestID)
	if err := s.out.announce(ctx, noted...); err != nil {
		return nil, err
	}
	return s.o.Ledger.Open()
}

// passed reports whether a deadline has passed that had not.
func (s *deadlines) passed() bool {
	return !s.next.IsZero() && s.next.Before(s.o.Clock.Now())
}

// HoldsOf returns the holds in force that would keep a request for some targets waiting.
func (c *Coordinator) HoldsOf(targets []lethe.Target) (out []deletions.WaitsForHold, err error) {
	list, err := c.states.o.Ledger.Holds()
	if err != nil {
		return nil, err
	}
	named, carried := make(map[lethe.Digest]bool), make(map[lethe.Digest]bool)
	for _, t := range targets {
		named[c.states.o.Secret.Suppressed(t)] = true
		if t.Kind == lethe.FeaturesTarget {
			named[c.states.o.Secret.Suppression(t.Transaction)] = true
		}
		subjects, err := c.states.o.Graphs.SubjectsOf(t)
		if err != nil {
			return nil, err
		}
		for _, subject := range subjects {
			carried[subject] = true
		}
	}
	for _, hold := range list {
		isNamed := func(d lethe.Digest) bool { return named[d] }
		isCarried := func(d lethe.Digest) bool { return carried[d] }
		if hold.InForce(c.states.o.Clock.Now()) &&
			(slices.ContainsFunc(hold.Targets, isNamed) || slices.ContainsFunc(hold.Subjects, isCarried)) {
			out = append(out, deletions.WaitsForHold{Name: hold.Name, Until: hold.Until})
		}
	}
	return out, nil
}

// waits reports whether Advance has nothing to do before something arrives, ends or is due.
func (c *Coordinator) waits() (bool, error) {
	ended, err := c.states.scrubs.end()
	c.states.dirty = c.states.dirty || ended
	return !c.states.dirty && c.states.queue.waits(c.states.o.Clock.Now()), err
}

// concern reports whether a request has to wait for holds, as one does that asks for what came late of a
// subject whose own request waits, and what holds keep of it. One that waits goes on waiting as
// long as a new process has not read again what that depends on.
func (h *holds) concern(e deletions.Entry, k keptNow) (own map[lethe.Digest]bool, waits bool, err error) {
	if len(k.targets)+len(k.subjects) == 0 {
		return nil, false, nil
	}
	own, known, err := (subjects{h.states}).keptOf(e, k)
	if err != nil || names(e, own) {
		return own, true, err
	}
	of, is, err := late.Of(h.o.Secret, h.o.Ledger, e)
	if err != nil || !is || begun(of) {
		return own, !known && e.State == deletions.Held, err
	}
	theirs, knownToo, err := (subjects{h.states}).keptOf(of, k)
	return own, names(of, theirs) || (!known || !knownToo) && e.State == deletions.Held, err
}

// passed reports whether a hold has ended by itself since, or a signature.
func (h *holds) passed() bool { return !h.next.IsZero() && !h.o.Clock.Now().Before(h.next) }

// waits is concern, and for the signature of one more person.
func (h *holds) waits(e deletions.Entry, k keptNow) (own map[lethe.Digest]bool, waits bool, err error) {
	own, waits, err = h.concern(e, k)
	return own, waits || h.signed.lacks(e), err
}
