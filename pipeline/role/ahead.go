package role

import (
	"cmp"
	"context"

	"lethe/ingest/bus"
)

func (f *Follower) follow(ctx context.Context) error {
	b, err := f.Open(ctx)
	if err != nil {
		return err
	}
	defer b.Tail.Close() //nolint:errcheck // nothing was written
	if err := b.Begin(ctx); err != nil {
		return err
	}
	waiting := newWaiting(b.Tail, f.around)
	defer waiting.stop()
	ahead := f.readAhead(ctx, waiting)
	defer ahead.stop()
	for {
		if s := f.around.Standing; s.StandsBy() {
			_, waiting.changed = s.Lead.leading()
			if done, err := f.Prepared(ctx); err != nil || done {
				return cmp.Or(err, errPrepared)
			}
		}
		a, err := ahead.next(ctx)
		if err != nil {
			return err
		}
		if err := f.arrived(ctx, a); err != nil {
			return err
		}
	}
}

// arrival is a batch, which may be empty, or a tick.
type arrival struct {
	batch    bus.Batch
	ticked   bool
	prepared any
	err      error
}

// readingAhead reads one batch ahead for a Preparer, and none for others.
type readingAhead struct {
	waiting *waiting
	// arrivals is nil if nothing is read ahead.
	arrivals chan arrival
	cancel   context.CancelFunc
	ended    chan struct{}
}

func (f *Follower) readAhead(ctx context.Context, w *waiting) *readingAhead {
	r := &readingAhead{waiting: w}
	preparer, is := f.logic.(Preparer)
	if _, replays := f.logic.(Replayer); !is || replays {
		return r
	}
	ctx, r.cancel = context.WithCancel(ctx)
	r.arrivals, r.ended = make(chan arrival, 1), make(chan struct{})
	go func() {
		defer close(r.ended)
		for {
			var a arrival
			if a.batch, a.ticked, a.err = w.next(ctx); a.err == nil {
				a.prepared = preparer.Prepare(a.batch)
			}
			select {
			case r.arrivals <- a:
			case <-ctx.Done():
				return
			}
			if a.err != nil {
				return
			}
		}
	}()
	return r
}

// next returns the next arrival.
func (r *readingAhead) next(ctx context.Context) (a arrival, err error) {
	if r.arrivals == nil {
		a.batch, a.ticked, err = r.waiting.next(ctx)
		return a, err
	}
	select {
	case a = <-r.arrivals:
		return a, a.err
	case <-ctx.Done():
		return a, ctx.Err()
	}
}

// stop stops reading ahead.
func (r *readingAhead) stop() {
	if r.arrivals != nil {
		r.cancel()
		<-r.ended
	}
}
