package scan

import (
	"context"
	"time"
)

// Pacer keeps all searches of a process together from taking more than a share of
// one processor: one works at a time, for a moment, and then rests in proportion. A
// nil Pacer lets them run.
type Pacer struct {
	share float64
	now   func() time.Time
	sleep func(ctx context.Context, d time.Duration) error
	// turn holds something while a search has its turn.
	turn chan struct{}
}

// NewPacer returns a pacer. share is that of one processor, above 0 and up to 1.
func NewPacer(
	share float64, now func() time.Time, sleep func(ctx context.Context, d time.Duration) error,
) *Pacer {
	return &Pacer{share: share, now: now, sleep: sleep, turn: make(chan struct{}, 1)}
}

// pieceOfWork is how long a search works before it rests: much longer than
// waking up takes, and short enough not to delay others.
const pieceOfWork = 5 * time.Millisecond

// longestWork is what is counted at most between two rests. Whatever takes longer was not at work: it
// waited for a broker or a disk, or the process was stopped.
const longestWork = 20 * pieceOfWork

// Pace is the turn of one search. The zero value and nil never rest.
type Pace struct {
	pacer *Pacer
	since time.Time
	// overslept is how much longer the last rest was than it had to be: sleeping takes a tenth
	// longer than was asked for, and much more on a busy machine. The next rest is as much shorter.
	overslept time.Duration
}

// Begin waits for a turn.
func (p *Pacer) Begin() *Pace {
	if p == nil {
		return nil
	}
	t := &Pace{pacer: p}
	t.Resume()
	t.since = p.now()
	return t
}

// Rest is called between small pieces of work. It rests if enough was done, and lets
// another search work then. The error is the context's.
func (t *Pace) Rest(ctx context.Context) error {
	if t == nil {
		return ctx.Err()
	}
	ended := t.pacer.now()
	worked := min(ended.Sub(t.since), longestWork)
	if worked < pieceOfWork {
		return ctx.Err()
	}
	due := time.Duration(float64(worked) * (1 - t.pacer.share) / t.pacer.share)
	err := t.pacer.sleep(ctx, due-t.overslept)
	// A machine that stood still owes nobody more than a piece of work.
	t.overslept = min(max(t.pacer.now().Sub(ended)-(due-t.overslept), 0), pieceOfWork, due)
	t.Yield()
	t.Resume()
	t.since = t.pacer.now()
	return err
}

// Yield lets other searches work until Resume, while something is waited for that may take any time, such as a broker.
func (t *Pace) Yield() {
	if t != nil {
		<-t.pacer.turn
	}
}

// Resume waits for a turn again, after Yield.
func (t *Pace) Resume() {
	if t != nil {
		t.pacer.turn <- struct{}{}
	}
}

// End ends the turn.
func (t *Pace) End() { t.Yield() }
