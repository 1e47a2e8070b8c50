package main

import (
	"context"
	"time"

	"golang.org/x/sync/errgroup"
)

// together is how long transactions gather before they are sent.
const together = 20 * time.Millisecond

// pace has a service take transactions in while they are sent, so many a second, with the labels of each timestep
// behind it, and measures how long either paused.
func (b *benchmark) pace(ctx context.Context) (taken measured, err error) {
	var paused time.Duration
	taken.PayloadBytes, err = b.withSender(ctx, func(s *sender) error {
		working, until := errgroup.WithContext(ctx)
		working.Go(func() (err error) {
			taken, err = b.start(until, wholeSide)
			return err
		})
		working.Go(func() (err error) {
			paused, err = s.paced(until)
			return err
		})
		if err := working.Wait(); err != nil {
			return err
		}
		taken.SenderPauseSeconds = paused.Seconds()
		return nil
	})
	return taken, err
}

// paced sends all transactions, and returns the longest time between two sendings.
func (s *sender) paced(ctx context.Context) (paused time.Duration, err error) {
	ticker := time.NewTicker(together)
	defer ticker.Stop()
	began, last, labelled := time.Now(), time.Time{}, 0
	for s.sent < s.Transactions {
		select {
		case <-ctx.Done():
			return paused, ctx.Err()
		case <-ticker.C:
		}
		due := int(time.Since(began).Seconds() * float64(s.Pace))
		for s.sent < min(due, s.Transactions) {
			if err := s.send(ctx, min(writtenTogether, due-s.sent)); err != nil {
				return paused, err
			}
			if now := time.Now(); !last.IsZero() {
				paused = max(paused, now.Sub(last))
			}
			last = time.Now()
		}
		if over := s.sent / s.PerTimestep * s.PerTimestep; over > labelled {
			if err := s.label(ctx, labelled, over); err != nil {
				return paused, err
			}
			labelled = over
		}
	}
	return paused, nil
}
