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

// states moves requests from state to state.
type states struct {
	o Options
	// steps are those of batches.
	steps        map[deletions.State]step
	queue        queue
	jobs         jobs
	acks         acks
	out          *outbox
	erased       *Erased
	verification *Verification
	// commanded are requests that this process commanded score to suppress.
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

// step does the work of a state if possible and returns the batch afterwards, or the part still in that state. An
// unchanged state and attempt mean that it waits.
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

// recordScanner searches original records.
func (s *states) recordScanner(prints []scan.Fingerprint) (*scan.Scanner, error) {
	return scan.NewRecordScanner(s.o.Secret, s.o.Limits.Normalise, prints)
}

// drive steps through the states until the batch is done or waits.
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

// move moves and announces a batch. update may be nil.
func (s *states) move(
	ctx context.Context, b batch, to deletions.State, update func(i int, e *deletions.Entry),
) (batch, error) {
	members, err := s.o.Ledger.TransitionAll(b.ids(), to, update)
	if err != nil {
		return b, err
	}
	return batch{b.leader, members}, s.out.announce(ctx, members...)
}

// update changes progress of a batch.
func (s *states) update(b batch, update func(i int, p *deletions.Progress)) (batch, error) {
	members, err := s.o.Ledger.UpdateAll(b.ids(), update)
	if err != nil {
		return b, err
	}
	return batch{b.leader, members}, nil
}

// stop moves a batch to Failed or Rejected.
func (s *states) stop(ctx context.Context, b batch, to deletions.State, why deletions.FailureCode) (batch, error) {
	members, err := s.o.Ledger.StopAll(b.ids(), to, why)
	if err != nil {
		return b, err
	}
	return batch{b.leader, members}, s.out.announce(ctx, members...)
}

// failed retries the failed step after a delay, under a new attempt number, so that the other roles search again.
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

type try struct {
	requestID string
	attempts  int
}

// tries has the time at which this process first saw a try fail.
type tries map[try]time.Time

// waited is the time since a try failed, counted from when this process saw it if the clock was set back.
func (known tries) waited(e deletions.Entry, now time.Time) time.Duration {
	this := try{e.RequestID, e.Attempts}
	if seen, found := known[this]; !found || now.Before(seen) {
		known[this] = now
	}
	return max(now.Sub(e.Updated()), now.Sub(known[this]))
}

func retryDelay(attempts int) time.Duration {
	return min(time.Second<<min(attempts, 6), time.Minute)
}

// holding are the requests with findings; all if the findings do not tell.
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

// Another role does not tell whose its findings are. Such a batch is retried in halves with a leader each, until the
// request concerned is alone and the others end without it.

// splits are the leaders of batches to split before a retry. They are forgotten at a restart.
type splits map[string]bool

func (p splits) mark(b batch) {
	if len(b.members) > 1 {
		p[b.leader] = true
	}
}

// halves returns the new leader of each member. The old leader keeps its half.
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

// retry moves a failed batch back, in halves if marked, commands each half and returns the old leader's.
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

// entered has the last state of each open request and its time.
type entered map[string]deletions.Change

// add reports whether the state is new since the last status.
func (n entered) add(s *deletions.Status) bool {
	last, now := n[s.Key()], deletions.Change{State: s.State, At: s.UpdatedAt}
	if s.State.Final() {
		delete(n, s.Key())
	} else {
		n[s.Key()] = now
	}
	return last.State != now.State || !last.At.Equal(now.At)
}
