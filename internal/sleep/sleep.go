// Package sleep waits for as long as somebody still wants to.
package sleep

import (
	"context"
	"time"
)

// For waits, or returns the context's error when that ends first.
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
