package coordinator

import (
	"context"
	"slices"
	"time"

	"lethe"
	"lethe/deletions"
	"lethe/deletions/scan"
	"lethe/internal/sortedset"
	"lethe/metrics/events"
)

// batch is the requests of one scope that run together and are in one state, in order of receipt.
type batch struct {
	// leader is the request whose id names the batch in commands and acknowledgements.
	leader  string
	members []deletions.Entry
}

// batches groups the requests that have begun, the oldest batch first.
func batches(list []deletions.Entry) (out []batch) {
	for _, e := range list {
		if !begun(e) {
			continue
		}
		at := slices.IndexFunc(out, func(b batch) bool {
			return b.leader == e.Leader() && b.state() == e.State && b.members[0].FailedIn == e.FailedIn
		})
		if at < 0 {
			out = append(out, batch{leader: e.Leader()})
			at = len(out) - 1
		}
		out[at].members = append(out[at].members, e)
	}
	return out
}

// begun reports whether something may have been rewritten for a request.
func begun(e deletions.Entry) bool {
	return !slices.Contains([]deletions.State{
		deletions.Received, deletions.Accepted, deletions.Rejected, deletions.Suppressed, deletions.Cancelled,
		deletions.Held,
	}, e.Stage())
}

func (b batch) state() deletions.State { return b.members[0].State }

// holdsUp reports whether no other batch may begin, because it would build on what this one publishes. Failed
// batches, which wait for a retry, and those being searched hold up none.
func (b batch) holdsUp() bool {
	state := b.state()
	return !state.Final() && state != deletions.Failed && state != deletions.Erased
}

// attempts numbers the batch's commands: the highest number of its members.
func (b batch) attempts() (most int) {
	for _, e := range b.members {
		most = max(most, e.Attempts)
	}
	return most
}

func (b batch) ids() []string {
	out := make([]string, len(b.members))
	for i, e := range b.members {
		out[i] = e.RequestID
	}
	return out
}

// notWithdrawn is the batch without the members whose records were withdrawn.
func (b batch) notWithdrawn() batch {
	b.members = slices.DeleteFunc(slices.Clone(b.members), func(e deletions.Entry) bool { return e.Progress.Withdrawn })
	return b
}

// with is the batch with newer entries in place of those of the same requests.
func (b batch) with(newer []deletions.Entry) batch {
	b.members = slices.Clone(b.members)
	for _, e := range newer {
		at := slices.IndexFunc(b.members, func(old deletions.Entry) bool { return old.RequestID == e.RequestID })
		b.members[at] = e
	}
	return b
}

// targets are the distinct keyed hashes of all targets and of what carries subjects.
func (b batch) targets() (out []lethe.Digest) {
	known := make(map[lethe.Digest]bool)
	for _, e := range b.members {
		for _, t := range e.Suppressed() {
			if !known[t] {
				known[t] = true
				out = append(out, t)
			}
		}
	}
	return out
}

func (b batch) subjects() (out []lethe.SubjectUntil) {
	for _, e := range b.members {
		out = append(out, e.Subjects...)
	}
	return out
}

func (b batch) redactions() (out []lethe.Redaction) {
	for _, e := range b.members {
		out = append(out, e.Redactions()...)
	}
	return out
}

// fingerprints are the distinct ones of all members.
func (b batch) fingerprints() (out []scan.Fingerprint) {
	known := make(map[scan.Fingerprint]bool)
	for _, e := range b.members {
		for _, f := range e.Progress.Fingerprints {
			if !known[f] {
				known[f] = true
				out = append(out, f)
			}
		}
	}
	return out
}

// replaced lists what the batch rewrites, as recorded.
func (b batch) replaced() []Replaced {
	byTimestep := make(map[lethe.Timestep]*Replaced)
	var timesteps []lethe.Timestep
	for _, e := range b.members {
		for i, t := range e.Progress.Timesteps {
			if byTimestep[t] == nil {
				byTimestep[t] = &Replaced{Timestep: t, Afresh: e.Scope == lethe.ScopePartition}
				timesteps = sortedset.Add(timesteps, t)
			}
			if i < len(e.Progress.Revisions) {
				byTimestep[t].Revision = max(byTimestep[t].Revision, e.Progress.Revisions[i])
			}
		}
		for _, ref := range e.Progress.Slices {
			r := byTimestep[ref.Timestep]
			r.Shards = sortedset.Add(r.Shards, ref.Shard)
		}
	}
	out := make([]Replaced, len(timesteps))
	for i, t := range timesteps {
		out[i] = *byTimestep[t]
	}
	return out
}

func (b batch) retrained() (out []lethe.ShardID) {
	for _, e := range b.members {
		out = sortedset.Add(out, e.Progress.Retrained...)
	}
	return out
}

// queue decides when suppressed requests begin.
type queue struct {
	// window is the longest wait of a batch's first request. A small part of it without a new request ends it too.
	window time.Duration
	// busy is when a batch last held up others. Requests received before have waited and begin at once.
	busy time.Time
	// due is when the next batch begins; zero for none.
	due time.Time
	// computed is the time of day at which due was computed.
	computed time.Time
}

// waits reports whether the next batch is not yet due. It is if the clock was set back since.
func (q *queue) waits(now time.Time) bool {
	day := now.Round(0) // that of the wall clock alone
	return q.due.IsZero() || day.Before(q.due) && !day.Before(q.computed)
}

// quietPart is the divisor of the window that must pass without a request.
const quietPart = 20

// begins is when a batch begins, given the times of receipt of its first and last request.
func (q *queue) begins(first, last, now time.Time) time.Time {
	if !first.After(q.busy) || last.After(now) {
		// The clock was set back if last is after now.
		return now
	}
	latest, quiet := first.Add(q.window), last.Add(q.window/quietPart)
	if quiet.Before(latest) {
		return quiet
	}
	return latest
}

// carryOut advances the batches that have begun, and begins others until one holds them up.
func (s *states) carryOut(ctx context.Context, begun []batch) (err error) {
	for _, b := range begun {
		if b, err = s.drive(ctx, b); err != nil {
			return err
		}
		if b.holdsUp() {
			s.queue.busy, s.queue.due = s.o.Clock.Now(), time.Time{}
			return nil
		}
	}
	for {
		b, begins, err := s.gather(ctx)
		if err != nil || !begins {
			return err
		}
		if b, err = s.drive(ctx, b); err != nil {
			return err
		}
		if b.holdsUp() {
			s.queue.busy = s.o.Clock.Now()
			return nil
		}
	}
}

// gather begins the next batch: the suppressed request with the first deadline, or the oldest, and others of its
// scope. The ledger stores all members in one write before anything is rewritten.
func (s *states) gather(ctx context.Context) (b batch, begins bool, err error) {
	s.queue.due = time.Time{}
	list, err := s.o.Ledger.List(deletions.Suppressed)
	if err != nil {
		return b, false, err
	}
	list = slices.DeleteFunc(list, func(e deletions.Entry) bool { return !s.canBegin(e) })
	if len(list) == 0 {
		return b, false, nil
	}
	coming, err := s.o.Ledger.List(deletions.Accepted)
	if err != nil {
		return b, false, err
	}
	now, first, last := s.o.Clock.Now(), list[0].Received(), list[len(list)-1].Received()
	if len(coming) > 0 {
		// Score has been commanded to suppress them.
		last = now
	}
	byDeadline(list)
	if due := bounded(s.queue.begins(first, last, now), list[0].Deadline); due.After(now) {
		s.queue.due, s.queue.computed = due, now.Round(0)
		return b, false, nil
	}
	b = batch{leader: list[0].RequestID}
	targets := 0
	for _, e := range list {
		fits := len(b.members) == 0 || targets+len(e.Targets) <= s.o.Limits.MaxErasureNodes
		if e.Scope == list[0].Scope && fits {
			b.members, targets = append(b.members, e), targets+len(e.Targets)
		}
	}
	byReceipt(b.members)
	b, err = s.move(ctx, b, deletions.Rewriting, func(_ int, e *deletions.Entry) {
		e.Batch = deletions.Batch{Leader: b.leader, Size: len(b.members)}
		before, answered := s.acks.of(e.RequestID, e.Attempts, scoreRole, deletions.StepSuppressed)
		if answered && e.Progress.EnsembleBefore.IsZero() {
			e.Progress.EnsembleBefore, e.Progress.Checkpoints.Before = before.Ensemble, before.Models
		}
	})
	return b, err == nil, err
}

// canBegin reports whether a suppressed request can begin: its targets are known, which takes a second read after a
// restart.
func (s *states) canBegin(e deletions.Entry) bool {
	_, answered := s.acks.of(e.RequestID, e.Attempts, scoreRole, deletions.StepSuppressed)
	return s.jobs.of(e.RequestID) != nil && (answered || !e.Progress.EnsembleBefore.IsZero())
}

// phaseDone reports to the listener how long each request was in a phase.
func (o *outbox) phaseDone(b batch, phase events.ErasurePhase, since deletions.State) {
	now := o.clock.Now()
	for _, e := range b.members {
		for _, change := range slices.Backward(e.History) {
			if change.State == since {
				o.listener.ErasurePhaseDone(events.ErasurePhaseDone{
					Trace: events.TraceOfErasure(o.secret, e.RequestID), Phase: phase, Duration: max(0, now.Sub(change.At)),
				})
				break
			}
		}
	}
}
