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

// ErrBusy is returned if the role did not answer in time: it works, waits for brokers or has ended. Ask again later.
var ErrBusy = errors.New("the graphs do not answer now")

// ErrStandsBy is a standby's answer. Ask the leader.
var ErrStandsBy = fmt.Errorf("%w: this process stands by, ask the one that leads", ErrBusy)

// Question asks for the effects of an erasure and for the data of its targets.
type Question struct {
	// Targets may be repeated. A subject without a timestep means through the newest one.
	Targets []lethe.Target
	Scopes  []lethe.Scope
	// Held asks for the data of the targets too.
	Held bool
}

// Answer is the state of the role between two steps.
type Answer struct {
	// Plans are the changes by scope, without scopes that the deployment rejects.
	Plans map[lethe.Scope]coordinator.Plan
	// Settled are the settled timesteps, ascending.
	Settled []lethe.Timestep
	// Past are recent requests that were not part of a batch.
	Past []deletions.Entry
	// Carried counts the transactions and payments that carry the subjects. Several are the transactions that carry other
	// subjects too, and are erased completely.
	Carried int
	Several []lethe.TransactionID
	// Unknown are the targets without data, unless all scopes are rejected.
	Unknown []lethe.Target
	// Alike are the unknown targets with data under another spelling.
	Alike []lethe.Target
	// Holds are the holds in force that would make the request wait.
	Holds []deletions.WaitsForHold
	// Held is the data by target, if asked for, then of transactions and payments that carry subjects.
	Held []Held
}

// Facts returns the input of a forecast.
func (a Answer) Facts(q Question) forecast.Facts {
	return forecast.Facts{
		Targets: len(lethe.Distinct(q.Targets)), Scopes: q.Scopes, Plans: a.Plans, Settled: a.Settled, Past: a.Past,
	}
}

// pastMost is the number of recent requests in an answer: enough for requests of every kind.
const pastMost = 60

// Questions passes questions of other goroutines to the role, which answers between its steps.
type Questions struct {
	asked chan asked
	wake  chan struct{}
}

type asked struct {
	Question
	answers chan<- answered
	// waits ends when the answer is no longer wanted.
	waits context.Context //nolint:containedctx // it belongs to the question, which travels to another goroutine
}

type answered struct {
	answer Answer
	err    error
}

// NewQuestions returns the questions of one role.
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

// respond answers pending questions.
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
