// Package sleep has a sleep that a context interrupts.
package sleep

import (
	"context"
	"time"
)

// For sleeps for d, or returns the context's error if that ends first.
func For(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
