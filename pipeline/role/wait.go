package role

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"lethe/ingest/bus"
)

// waiting waits for a batch, a wake-up or a tick.
type waiting struct {
	tail Tail
	wake <-chan struct{}
	// changed, if not nil, is closed when the leader may have changed.
	changed <-chan struct{}
	// ticker is nil without ticks.
	ticker *time.Ticker
	log    *slog.Logger
}

func newWaiting(tail Tail, around Surroundings) *waiting {
	w := &waiting{tail: tail, wake: around.Wake, log: around.Logger}
	if around.Tick > 0 {
		w.ticker = time.NewTicker(around.Tick)
	}
	return w
}

func (w *waiting) stop() {
	if w.ticker != nil {
		w.ticker.Stop()
	}
}

// next waits for the next batch; it returns an empty one for a wake-up or a tick. While a partition is out of reach it
// logs that and continues to wait.
func (w *waiting) next(ctx context.Context) (batch bus.Batch, ticked bool, err error) {
	for {
		batch, ticked, err = w.first(ctx)
		if !errors.Is(err, bus.ErrInterrupted) || ctx.Err() != nil {
			return batch, ticked, err
		}
		w.log.Warn("reading is interrupted, trying again", "error", err)
	}
}

// first returns the first event. A batch and a tick of the same time are returned together.
func (w *waiting) first(ctx context.Context) (batch bus.Batch, ticked bool, err error) {
	var ticks <-chan time.Time
	if w.ticker != nil {
		ticks = w.ticker.C
	}
	if w.wake == nil && w.changed == nil && ticks == nil {
		batch, err = w.tail.Next(ctx)
		return batch, false, err
	}
	reading, interrupt := context.WithCancel(ctx)
	woken, done := false, make(chan struct{})
	go func() {
		defer close(done)
		select {
		case <-w.wake:
			woken = true
		case <-w.changed:
			woken = true
		case <-ticks:
			ticked = true
		case <-reading.Done():
		}
		interrupt()
	}()
	batch, err = w.tail.Next(reading)
	interrupt()
	<-done
	passes := errors.Is(err, context.Canceled) || errors.Is(err, bus.ErrInterrupted)
	if passes && (woken || ticked) && ctx.Err() == nil {
		return bus.Batch{}, ticked, nil
	}
	return batch, ticked, err
}

// Beside runs Surroundings.Beside until the context ends. Run calls it; other callers feed the role themselves.
func (f *Follower) Beside(ctx context.Context) error {
	if f.around.Beside == nil {
		return nil
	}
	return f.around.Beside(ctx)
}
