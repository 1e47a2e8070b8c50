package coordinator

import (
	"context"
	"fmt"
	"time"

	"lethe/deletions"
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
		listener: o.Listener, shared: o.Instance != ""}
	s := &states{
		o: o, queue: queue{window: o.BatchWindow}, jobs: jobs{notes: o.Notes, secret: o.Secret}, acks: newAcks(o.Instance),
		out:       out,
		commanded: make(map[string]bool), scrubs: scrubs{graphs: o.Graphs, made: make(map[string]int)}, failedAt: make(tries), splits: make(splits),
		erased: &Erased{
			ledger: o.Ledger, secret: o.Secret, bus: o.Bus, out: out, named: make(map[string][]NamedRecord),
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
		deletions.Verifying:  s.cleaned,
		deletions.Verified:   s.verified,
		deletions.Failed:     s.failed,
	}
	return s
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

// moveAll makes a transition of a batch and announces it.
func (s *states) moveAll(
	ctx context.Context, b batch, to deletions.State, update func(i int, p *deletions.Progress),
) (batch, error) {
	return s.moveEach(ctx, b, to, func(i int, e *deletions.Entry) {
		if update != nil {
			update(i, &e.Progress)
		}
	})
}

// moveEach is moveAll for what is not progress.
func (s *states) moveEach(
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

// fail ends a try of a batch and says why.
func (s *states) fail(ctx context.Context, b batch, why deletions.FailureCode) (batch, error) {
	return s.stop(ctx, b, deletions.Failed, why)
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

// awaitedQuietly is for how long an answer is waited for before that is said.
const awaitedQuietly = 30 * time.Second

// awaiting says whom requests wait for.
type awaiting struct {
	*states
	// said are the waits that were said.
	said map[string]bool
}

// say says once which data directory a request waits for, where it stands for long: its process may be stopped
// or gone, and only an operator can tell.
func (s *awaiting) say() error {
	now := s.o.Clock.Now()
	waiting, err := s.o.Ledger.Where(func(e *deletions.Entry) bool {
		return now.Sub(e.Updated()) >= awaitedQuietly && len(s.answers(e.State)) > 0
	})
	if err != nil {
		return err
	}
	said := make(map[string]bool)
	for _, e := range waiting {
		b := batch{leader: e.RequestID, members: []deletions.Entry{e}}
		if begun(e) {
			if b, err = s.out.whole(e.Leader()); err != nil {
				return err
			}
		}
		for _, of := range s.answers(e.State) {
			missing := s.acks.missing(b.leader, b.attempts(), of.role, of.step)
			for _, instance := range missing {
				this := fmt.Sprint(e.RequestID, e.Attempts, e.State, of.role, instance)
				if said[this] = true; !s.said[this] {
					s.o.Logger.Warn("an erasure waits for a data directory: start its process, or strike it off if it is gone for "+
						"good (lethe members strike)", "request_id", e.RequestID, "state", e.State, "role", of.role, "instance", instance)
				}
			}
			if len(missing) > 0 && of.step == deletions.StepPurged {
				break // score waits for them, too
			}
		}
	}
	s.said = said
	return nil
}

// answers are those that a request in a state waits for.
func (s *awaiting) answers(state deletions.State) (out []source) {
	switch state {
	case deletions.Accepted:
		return []source{{role: scoreRole, step: deletions.StepSuppressed}, {role: viewRole, step: deletions.StepSuppressed}}
	case deletions.Retraining:
		return []source{{role: trainRole, step: deletions.StepPurged}, {role: scoreRole, step: deletions.StepSwapped}}
	case deletions.Swapped, deletions.Erased, deletions.Verifying:
		step := deletions.StepScanned
		if state == deletions.Swapped {
			step = deletions.StepErased
		}
		for _, role := range s.acks.holders() {
			out = append(out, source{role: role, step: step})
		}
	default:
	}
	return out
}
