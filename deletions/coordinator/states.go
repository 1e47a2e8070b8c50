package coordinator

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"lethe/deletions"
	"lethe/deletions/scan"
	"lethe/pipeline/wire"
)

// states moves requests from state to state; each has a file of its own.
type states struct {
	o Options
	// steps are those of a batch.
	steps  map[deletions.State]step
	queue  queue
	jobs   jobs
	acks   acks
	out    *outbox
	erased *Erased
	// verification is that under way, if there is one.
	verification *Verification
	// commanded are the requests of which this process has asked score to suppress
	// the targets.
	commanded map[string]bool
	scrubs    scrubs
	failedAt  tries
	splits    splits
	cancelled cancellations
	deadlines deadlines
	holds     holds
	signed    signatures
	awaiting  awaiting
	// dirty says that a request may be able to go on.
	dirty bool
}

// step does what the state of a batch announces, if it can be done now, and returns
// the batch as it is then, or what is left of it in that state. The same state and
// attempt mean that it has to wait.
type step func(ctx context.Context, b batch) (batch, error)

func newStates(o Options) *states {
	out := &outbox{secret: o.Secret, signing: o.SigningKey, ledger: o.Ledger, bus: o.Bus, graphs: o.Graphs, clock: o.Clock,
		listener: o.Listener, entered: make(entered), shared: o.Instance != ""}
	s := &states{
		o: o, queue: queue{window: o.BatchWindow}, jobs: jobs{notes: o.Notes, secret: o.Secret}, acks: newAcks(o.Instance),
		out:       out,
		commanded: make(map[string]bool), scrubs: scrubs{graphs: o.Graphs, made: make(map[string]int)},
		failedAt: make(tries), splits: make(splits),
		erased: &Erased{
			ledger: o.Ledger, secret: o.Secret, names: o.Limits.Normalise, bus: o.Bus, out: out,
			named: make(map[string][]NamedRecord), underWay: make(map[place]int64),
		},
		dirty: true,
	}
	s.cancelled, s.deadlines = cancellations{states: s, pending: make(map[string]int)}, deadlines{states: s}
	s.holds, s.signed, s.awaiting = holds{states: s}, signatures{s}, awaiting{states: s}
	s.verification = &Verification{states: s, purged: make(map[string]bool)}
	s.steps = map[deletions.State]step{
		deletions.Rewriting:  s.rewriting,
		deletions.Retraining: s.retraining,
		deletions.Swapped:    s.swapped,
		deletions.Erased:     s.erasedEverywhere,
		deletions.Verified:   s.verified,
		deletions.Failed:     s.failed,
	}
	return s
}

// recordScanner looks for fingerprints in records as their producers wrote them.
func (s *states) recordScanner(prints []scan.Fingerprint) (*scan.Scanner, error) {
	return scan.NewRecordScanner(s.o.Secret, s.o.Limits.Normalise, prints)
}

// drive steps through the states until the batch is done or has to wait.
func (s *states) drive(ctx context.Context, b batch) (batch, error) {
	for {
		next, err := s.steps[b.state()](ctx, b)
		if err != nil {
			return b, fmt.Errorf("request %s in state %s: %w", b.leader, b.state(), err)
		}
		if next.state() == b.state() && next.attempts() == b.attempts() || next.state().Final() {
			return next, nil
		}
		b = next
	}
}

// move makes a transition of a batch and announces it. update may be nil.
func (s *states) move(
	ctx context.Context, b batch, to deletions.State, update func(i int, e *deletions.Entry),
) (batch, error) {
	members, err := s.o.Ledger.TransitionAll(b.ids(), to, update)
	if err != nil {
		return b, err
	}
	return batch{b.leader, members}, s.out.announce(ctx, members...)
}

// update records progress of a batch.
func (s *states) update(b batch, update func(i int, p *deletions.Progress)) (batch, error) {
	members, err := s.o.Ledger.UpdateAll(b.ids(), update)
	if err != nil {
		return b, err
	}
	return batch{b.leader, members}, nil
}

// stop ends requests, or their try, and says why.
func (s *states) stop(ctx context.Context, b batch, to deletions.State, why deletions.FailureCode) (batch, error) {
	members, err := s.o.Ledger.StopAll(b.ids(), to, why)
	if err != nil {
		return b, err
	}
	return batch{b.leader, members}, s.out.announce(ctx, members...)
}

// failed goes back to the step that failed, after a while. Verification is asked
// for again, with a new attempt number, so that the other roles search again.
func (s *states) failed(ctx context.Context, b batch) (batch, error) {
	now := s.o.Clock.Now()
	for _, e := range b.members {
		if s.failedAt.waited(e, now) < retryDelay(e.Attempts) {
			return b, nil
		}
	}
	for _, e := range b.members {
		delete(s.failedAt, try{e.RequestID, e.Attempts})
	}
	b, err := s.spare(b)
	if err != nil {
		return b, err
	}
	return s.retry(ctx, b)
}

// try is one try of a request.
type try struct {
	requestID string
	attempts  int
}

// tries says when this process first saw that a try had failed.
type tries map[try]time.Time

// waited is how long ago a try failed. The ledger has the time of day, which may have been
// set back since: then it counts from when this process first saw that.
func (known tries) waited(e deletions.Entry, now time.Time) time.Duration {
	this := try{e.RequestID, e.Attempts}
	if seen, found := known[this]; !found || now.Before(seen) {
		known[this] = now
	}
	return max(now.Sub(e.Updated()), now.Sub(known[this]))
}

// retryDelay doubles from a second to a minute.
func retryDelay(attempts int) time.Duration {
	return min(time.Second<<min(attempts, 6), time.Minute)
}

// holding are those requests of which something was found: all of them, if what was
// found does not say whose it is.
func (s *Search) holding(sought batch, verdict Verdict, others scan.Summary) batch {
	if others.Hits > 0 || verdict.found == nil || !errors.Is(verdict.err, errTimeUp) {
		return sought
	}
	if _, superseded := verdict.found.total(); superseded > 0 {
		return sought
	}
	found := make(map[scan.MAC]bool)
	for i := range verdict.found.by {
		found[s.prints[i].MAC] = true
	}
	own := sought
	own.members = slices.DeleteFunc(slices.Clone(sought.members), func(e deletions.Entry) bool {
		return !slices.ContainsFunc(e.Progress.Fingerprints, func(f scan.Fingerprint) bool { return found[f.MAC] })
	})
	if len(own.members) == 0 {
		return sought
	}
	return own
}

// Another role counts what its search of a batch has found, and does not say whose it is. Such a batch is
// tried again in halves, each searched under its own leader, until a request of which something is found
// is alone. The others end without it.

// splits are the leaders of batches to split before they are tried again. After a restart a batch is split
// once its next try has failed.
type splits map[string]bool

// note marks a batch of several requests.
func (p splits) note(b batch) {
	if len(b.members) > 1 {
		p[b.leader] = true
	}
}

// halves returns the members of a batch with the leader of each. The half that the leader is in keeps it.
func (b batch) halves() map[string]string {
	first, second := b.members[:len(b.members)/2], b.members[len(b.members)/2:]
	isLeader := func(e deletions.Entry) bool { return e.RequestID == b.leader }
	if slices.ContainsFunc(second, isLeader) {
		first, second = second, first
	}
	leaders := make(map[string]string, len(b.members))
	for _, e := range first {
		leaders[e.RequestID] = b.leader
	}
	for _, e := range second {
		leaders[e.RequestID] = second[0].RequestID
	}
	return leaders
}

// retry moves a failed batch back to the state that it failed in, in halves if it is to be split, and
// commands each. It returns those of the batch's leader.
func (s *states) retry(ctx context.Context, b batch) (batch, error) {
	var leaders map[string]string
	if s.splits[b.leader] && len(b.members) > 1 {
		leaders = b.halves()
	}
	delete(s.splits, b.leader)
	members, err := s.o.Ledger.RetryAll(b.ids(), func(e *deletions.Entry) {
		if leader, moves := leaders[e.RequestID]; moves {
			e.Batch.Leader = leader
		}
	})
	if err != nil {
		return b, err
	}
	if err := s.out.announce(ctx, members...); err != nil {
		return b, err
	}
	phase := wire.PhasePurge
	if members[0].State == deletions.Erased {
		phase = wire.PhaseSearch
	}
	own := batch{leader: b.leader}
	commanded := make(map[string]bool)
	for _, e := range members {
		if e.Leader() == b.leader {
			own.members = append(own.members, e)
		} else {
			s.dirty = true
		}
		if commanded[e.Leader()] {
			continue
		}
		commanded[e.Leader()] = true
		if err := s.out.command(ctx, e.Leader(), phase); err != nil {
			return b, err
		}
	}
	return own, nil
}

// entered is which state each open request came into last, and when: a status is published again when anything else of
// it changes.
type entered map[string]deletions.Change

// add reports whether a request has come into a state since its status was published last.
func (n entered) add(s *deletions.Status) bool {
	last, now := n[s.Key()], deletions.Change{State: s.State, At: s.UpdatedAt}
	if s.State.Final() {
		delete(n, s.Key())
	} else {
		n[s.Key()] = now
	}
	return last.State != now.State || !last.At.Equal(now.At)
}
