package coordinator

import (
	"context"
	"time"

	"lethe/ingest"
	"lethe/ingest/bus"
)

// Bus is how the coordinator reads and writes topics; *bus.Client is one.
type Bus interface {
	Write(ctx context.Context, t bus.Topic, records []ingest.Outgoing) error
	// ReadAll reads a topic from its start to where it ends now.
	ReadAll(ctx context.Context, t bus.Topic, fn func(ingest.Record) error) error
	RollMarkers(ctx context.Context, topics ...bus.Topic) error
}

var _ Bus = (*bus.Client)(nil)

// Clock tells the time and lets it pass.
type Clock interface {
	Now() time.Time
	// Sleep waits, or returns the context's error when that ends first.
	Sleep(ctx context.Context, d time.Duration) error
}

// WallClock is the clock of the machine.
type WallClock struct{}

// Now implements Clock.
func (WallClock) Now() time.Time { return time.Now() }

// Sleep implements Clock.
func (WallClock) Sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
