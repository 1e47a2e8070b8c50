package worlds

import (
	"context"
	"time"
)

// clock is a clock that passes only when it is told to, and when somebody sleeps.
type clock struct {
	now time.Time
	// stopped says that nobody sleeps any more.
	stopped bool
}

// Now implements search.Clock.
func (c *clock) Now() time.Time { return c.now }

// Sleep implements search.Clock.
func (c *clock) Sleep(ctx context.Context, d time.Duration) error {
	c.now = c.now.Add(d)
	if c.stopped {
		return context.Canceled
	}
	return ctx.Err()
}
