package role

import (
	"context"

	"golang.org/x/sync/errgroup"

	"lethe/ingest/bus"
	"lethe/pipeline/wire"
)

// WriteFunc has something written as long as a process leads. Errors: ErrLedElsewhere, those of write.
type WriteFunc func(ctx context.Context, write func(ctx context.Context) error) error

// Alone does something once this process leads, so that no other does it at the same time: what is
// written by the function that do is given is refused, with ErrLedElsewhere, once another one may.
// The process takes part for that long only.
func Alone(ctx context.Context, l *Lead, do func(ctx context.Context, write WriteFunc) error) error {
	ctx, done := context.WithCancel(ctx)
	defer done()
	group, running := errgroup.WithContext(ctx)
	group.Go(func() error { return l.Run(running) })
	var did error
	group.Go(func() error {
		defer done()
		term, err := l.until(running, 0)
		if err == nil {
			_, err = askEarlier(running, l, term, []bus.TopicPartition{{Topic: bus.Control}})
		}
		if err != nil {
			return err
		}
		did = do(running, func(ctx context.Context, write func(ctx context.Context) error) error {
			return l.write(ctx, term, func(ctx context.Context, _ wire.Owner) error { return write(ctx) })
		})
		return did
	})
	if err := group.Wait(); err != nil {
		return err
	}
	return did
}
