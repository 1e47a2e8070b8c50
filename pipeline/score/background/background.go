// Package background runs jobs beside a role's loop, one at a time, while the loop continues.
package background

import "context"

// Job makes a result. Its context ends with the role, or when the loop abandons the job.
type Job[R any] func(ctx context.Context) (R, error)

// Runner runs jobs. One goroutine, the loop's, uses it, but for Run, which has one of its own.
type Runner[R any] struct {
	jobs    chan begun[R]
	results chan outcome[R]
	wake    chan struct{}
	// now is the job under way, the zero value for none.
	now       begun[R]
	abandoned bool
}

type begun[R any] struct {
	job    Job[R]
	ctx    context.Context
	cancel context.CancelFunc
}

type outcome[R any] struct {
	result R
	err    error
}

// New returns a runner without a job.
func New[R any]() *Runner[R] {
	return &Runner[R]{
		jobs: make(chan begun[R], 1), results: make(chan outcome[R], 1), wake: make(chan struct{}, 1),
	}
}

// Run runs jobs until the context ends, and returns its error.
func (r *Runner[R]) Run(ctx context.Context) error {
	for {
		select {
		case b := <-r.jobs:
			stop := context.AfterFunc(ctx, b.cancel)
			r.results <- b.run()
			stop()
			select {
			case r.wake <- struct{}{}:
			default:
			}
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// RunHere runs the job under way in the loop's own goroutine, for a role that has no other.
func (r *Runner[R]) RunHere() {
	select {
	case b := <-r.jobs:
		r.results <- b.run()
	default:
	}
}

func (b begun[R]) run() (out outcome[R]) {
	defer b.cancel()
	out.result, out.err = b.job(b.ctx)
	return out
}

// Wake receives when a job has ended.
func (r *Runner[R]) Wake() <-chan struct{} { return r.wake }

// Busy reports whether a job is under way, or its result was not taken yet.
func (r *Runner[R]) Busy() bool { return r.now.job != nil }

// Begin begins a job. Precondition: the runner is not busy.
func (r *Runner[R]) Begin(job Job[R]) {
	ctx, cancel := context.WithCancel(context.Background())
	r.now, r.abandoned = begun[R]{job, ctx, cancel}, false
	r.jobs <- r.now
}

// Abandon ends the current job: its result is no longer needed.
func (r *Runner[R]) Abandon() {
	if r.Busy() {
		r.abandoned = true
		r.now.cancel()
	}
}

// Take returns the result of a job that has ended, once. taken is false if there is none, or it was abandoned.
func (r *Runner[R]) Take() (result R, taken bool, err error) {
	select {
	case out := <-r.results:
		r.now = begun[R]{}
		if r.abandoned {
			return result, false, nil
		}
		return out.result, true, out.err
	default:
		return result, false, nil
	}
}
