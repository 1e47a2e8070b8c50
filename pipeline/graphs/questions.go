package graphs

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"lethe"
	"lethe/deletions"
	"lethe/deletions/coordinator"
	"lethe/deletions/disk"
	"lethe/deletions/forecast"
	"lethe/internal/normalise"
	"lethe/internal/sortedset"
	"lethe/snapshot"
)

// ErrBusy says that the role did not answer a question in time: it is in the middle of
// something, waits for brokers or has ended. Ask again later.
var ErrBusy = errors.New("the graphs do not answer now")

// Question asks what an erasure would change, and what is held of its targets.
type Question struct {
	// Targets are transactions and subjects, up to the newest timestep if they say none; a
	// repeated one counts once.
	Targets []lethe.Target
	Scopes  []lethe.Scope
	// Held asks for what the graphs hold of the targets as well.
	Held bool
}

// Answer is what the role knows between two of its steps.
type Answer struct {
	// Plans are what the erasure would change, scope by scope as asked. Those of scopes that
	// the deployment rejects are missing from it.
	Plans map[lethe.Scope]coordinator.Plan
	// Settled are the settled timesteps, ascending.
	Settled []lethe.Timestep
	// Past are recent requests that were carried out alone.
	Past []deletions.Entry
	// Carried counts what goes with subjects. Several are the transactions among that carry
	// other subjects too, and go whole.
	Carried int
	Several []lethe.TransactionID
	// Unknown are the targets of which nothing is held, as far as a scope that was asked for is not rejected.
	Unknown []lethe.Target
	// Alike are those of them of which something is held under another spelling.
	Alike []lethe.Target
	// Holds are those in force that would keep the request waiting.
	Holds []deletions.WaitsForHold
	// Held is what the graphs hold, target by target, if it was asked for, then of what
	// carries subjects.
	Held []Held
}

// Facts are what a forecast takes of the answer.
func (a Answer) Facts(q Question) forecast.Facts {
	return forecast.Facts{
		Targets: len(lethe.Distinct(q.Targets)), Scopes: q.Scopes, Plans: a.Plans, Settled: a.Settled, Past: a.Past,
	}
}

// pastMost is how many recent requests an answer has: enough for requests of every kind.
const pastMost = 60

// Questions are put to the role from other goroutines. It answers between its steps, in its own
// goroutine, and changes nothing for them.
type Questions struct {
	asked chan asked
	wake  chan struct{}
}

type asked struct {
	Question
	answers chan<- answered
	// waits ends when nobody waits for the answer any more.
	waits context.Context //nolint:containedctx // it belongs to the question, which travels to another goroutine
}

type answered struct {
	answer Answer
	err    error
}

// NewQuestions returns the place for one role.
func NewQuestions() *Questions {
	return &Questions{asked: make(chan asked, 4), wake: make(chan struct{}, 1)}
}

// Ask waits for the answer. Errors: ErrBusy when the context ends first, lethe.ErrTarget, those of
// the stores.
func (q *Questions) Ask(ctx context.Context, question Question) (Answer, error) {
	answers := make(chan answered, 1)
	busy := func() (Answer, error) { return Answer{}, fmt.Errorf("%w: %w", ErrBusy, context.Cause(ctx)) }
	select {
	case q.asked <- asked{question, answers, ctx}:
	case <-ctx.Done():
		return busy()
	}
	select {
	case q.wake <- struct{}{}:
	default:
	}
	select {
	case a := <-answers:
		return a.answer, a.err
	case <-ctx.Done():
		return busy()
	}
}

// decline answers questions, which are for who leads.
func (s *standby) decline() {
	for s.o.Questions != nil {
		select {
		case q := <-s.o.Questions.asked:
			q.answers <- answered{err: ErrStandsBy}
		default:
			return
		}
	}
}

// respond answers the questions that were asked by now.
func (l *logic) respond() {
	for l.questions != nil {
		select {
		case q := <-l.questions.asked:
			answer, err := l.answer(q.waits, q.Question)
			q.answers <- answered{answer, err}
		default:
			return
		}
	}
}

// answer reads the stores. What it partitions for a plan is not kept.
func (l *logic) answer(ctx context.Context, q Question) (out Answer, err error) {
	defer l.eraser.afresh.forget()
	targets := lethe.Distinct(q.Targets)
	for i := range targets {
		if targets[i].Kind == lethe.SubjectTarget && targets[i].Until == lethe.NoTimestep {
			targets[i].Until = max(0, l.eraser.Newest())
		}
	}
	out.Plans = make(map[lethe.Scope]coordinator.Plan)
	for _, scope := range q.Scopes {
		if l.coordinator.Rejects(scope) {
			continue
		}
		if out.Plans[scope], err = l.coordinator.Plan(ctx, targets, scope); err != nil {
			return out, fmt.Errorf("plan at scope %s: %w", scope, err)
		}
	}
	if out.Past, err = l.coordinator.Past(pastMost); err != nil {
		return out, err
	}
	for _, info := range l.store.Timesteps() {
		if info.State == lethe.Settled {
			out.Settled = sortedset.Add(out.Settled, info.Timestep)
		}
	}
	carried, several, err := l.eraser.carriedBy(targets)
	out.Carried, out.Several = len(carried), several
	if err == nil {
		out.Holds, err = l.coordinator.HoldsOf(slices.Concat(targets, carried))
	}
	out.Unknown = unknownOf(targets, out.Plans)
	if err == nil {
		out.Alike, err = l.eraser.alike(ctx, out.Unknown)
	}
	if err == nil && q.Held {
		out.Held, err = holdings{l.eraser}.of(lethe.Distinct(slices.Concat(targets, carried)))
	}
	return out, err
}

// unknownOf returns the targets of which no plan found anything. All scopes find the same.
func unknownOf(targets []lethe.Target, plans map[lethe.Scope]coordinator.Plan) (out []lethe.Target) {
	for _, plan := range plans {
		for i, held := range plan.Held {
			if !held {
				out = append(out, targets[i])
			}
		}
		return out
	}
	return nil
}

// AskStopped answers a question of the folder of a role that does not run. Topics have as many
// partitions as are given. Errors are those of Ask and of opening the stores: swapstore.ErrInUse if
// the role runs after all.
func AskStopped(ctx context.Context, o Options, partitions int, q Question) (_ Answer, err error) {
	l, closeStores, err := openStopped(o.agreed(), partitions)
	if err != nil {
		return Answer{}, err
	}
	defer func() { err = errors.Join(err, closeStores()) }()
	return l.answer(ctx, q)
}

// openStopped opens the stores of a role that does not run.
func openStopped(o Options, partitions int) (_ *logic, closeStores func() error, err error) {
	store, err := snapshot.Open(snapshotsDir(o), snapshot.Options{
		Config: o.Snapshot, Secret: o.Secret, FS: o.FS, TransactionPartitions: partitions, LabelPartitions: partitions,
	})
	if err != nil {
		return nil, nil, err
	}
	if err := CheckSettings(store.Marks(), o.Partition, o.Repair); err != nil {
		return nil, nil, errors.Join(err, store.Close())
	}
	ledger, ledgerStore, err := disk.OpenLedger(o.FS, o.Dir, nil)
	if err != nil {
		return nil, nil, errors.Join(err, store.Close())
	}
	closeStores = func() error { return errors.Join(ledgerStore.Close(), store.Close()) }
	return newLogic(o, stores{graphs: store, ledger: ledger}, nil), closeStores, nil
}

// alike returns those of some targets of which nothing is held, though something is held of another spelling.
func (e carriers) alike(ctx context.Context, targets []lethe.Target) (out []lethe.Target, err error) {
	folded := func(t lethe.Target) string {
		if t.Kind == lethe.PaymentTarget {
			return normalise.Folded(string(t.Payment.Source)) + ">" + normalise.Folded(string(t.Payment.Target))
		}
		return normalise.Folded(string(t.Transaction))
	}
	payments := false
	of := make(map[string]bool)
	var subjects []lethe.Target
	for _, t := range targets {
		if t.Kind == lethe.SubjectTarget {
			subjects = append(subjects, t)
			continue
		}
		of[folded(t)], payments = true, payments || t.Kind == lethe.PaymentTarget
	}
	if len(subjects) > 0 {
		if out, err = e.store.Marks().SubjectsAlike(ctx, subjects); err != nil {
			return nil, err
		}
	}
	if len(of) == 0 {
		return out, nil
	}
	found, err := e.store.Named(ctx, func(t lethe.Target) bool {
		return (payments || t.Kind != lethe.PaymentTarget) && of[folded(t)]
	})
	held := make(map[string]bool)
	for _, t := range found {
		held[folded(t)] = true
	}
	for _, t := range targets {
		if t.Kind != lethe.SubjectTarget && held[folded(t)] {
			out = append(out, t)
		}
	}
	return out, err
}
