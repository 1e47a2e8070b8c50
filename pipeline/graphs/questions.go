package graphs

import (
	"context"
	"errors"
	"fmt"

	"lethe"
	"lethe/deletions"
	"lethe/deletions/coordinator"
	"lethe/deletions/forecast"
)

// ErrBusy says that the role did not answer a question in time: it is in the middle of
// something, waits for brokers or has ended. Ask again later.
var ErrBusy = errors.New("the graphs do not answer now")

// ErrStandsBy answers questions to a process that stands by. Ask the one that leads.
var ErrStandsBy = fmt.Errorf("%w: this process stands by, ask the one that leads", ErrBusy)

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

// respond answers the questions that were asked by now, if there are any.
func (q *Questions) respond(answer func(context.Context, Question) (Answer, error)) {
	for q != nil {
		select {
		case one := <-q.asked:
			a, err := answer(one.waits, one.Question)
			one.answers <- answered{a, err}
		default:
			return
		}
	}
}
