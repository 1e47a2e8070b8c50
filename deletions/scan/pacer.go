package scan

import (
	"context"
	"time"
)

// Pacer limits all searches together to a share of one processor: one works at a time, briefly, then rests in
// proportion. A nil Pacer does not.
type Pacer struct {
	share float64
	now   func() time.Time
	sleep func(ctx context.Context, d time.Duration) error
	// turn is full while a search has its turn.
	turn chan struct{}
}

// NewPacer returns a pacer for a share in (0, 1] of a processor.
func NewPacer(
	share float64, now func() time.Time, sleep func(ctx context.Context, d time.Duration) error,
) *Pacer {
	return &Pacer{share: share, now: now, sleep: sleep, turn: make(chan struct{}, 1)}
}

// pieceOfWork is the time between rests: longer than waking up takes, too short to delay others.
const pieceOfWork = 5 * time.Millisecond

// longestWork bounds the work counted between rests. More was spent waiting.
const longestWork = 20 * pieceOfWork

// Pace is a search's turn. The zero value and nil never rest.
type Pace struct {
	pacer *Pacer
	since time.Time
	// overslept is the excess of the last pause, to be subtracted from the next.
	overslept time.Duration
}

// Begin waits for the turn.
func (p *Pacer) Begin() *Pace {
	if p == nil {
		return nil
	}
	t := &Pace{pacer: p}
	t.Resume()
	t.since = p.now()
	return t
}

// Rest rests if enough work was done, and lets another search work. Call it often. The error is the context's.
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
	// A machine that stood still owes one piece at most.
	t.overslept = min(max(t.pacer.now().Sub(ended)-(due-t.overslept), 0), pieceOfWork, due)
	t.Yield()
	t.Resume()
	t.since = t.pacer.now()
	return err
}

// Yield lets other searches work until Resume, for example while waiting for a broker.
func (t *Pace) Yield() {
	if t != nil {
		<-t.pacer.turn
	}
}

// Resume waits for the turn after Yield.
func (t *Pace) Resume() {
	if t != nil {
		t.pacer.turn <- struct{}{}
	}
}

// End ends the turn.
func (t *Pace) End() { t.Yield() }
