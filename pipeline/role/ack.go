package role

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"lethe/deletions"
	"lethe/ingest"
	"lethe/ingest/bus"
)

// Acknowledge is the output that publishes what a process says of a step of an erasure, whether it
// leads or stands by, and then notes its attempt.
func Acknowledge(a deletions.Ack, note *int) (Output, error) {
	value, err := a.Encode()
	if err != nil {
		return Output{}, err
	}
	records := []ingest.Outgoing{{Key: []byte(a.Key()), Value: value}}
	return Output{Topic: bus.Control, Records: records, Note: func() error {
		*note = a.Attempt
		return nil
	}}, nil
}

// AcknowledgeNext returns what one returns of the first open request, in the order of their ids, of which something is
// due; otherwise the output is idle.
func AcknowledgeNext[E any](
	ctx context.Context, open map[string]E, one func(context.Context, E) (out Output, due bool, err error),
) (Output, error) {
	for _, id := range slices.Sorted(maps.Keys(open)) {
		out, due, err := one(ctx, open[id])
		if err != nil {
			return Output{}, fmt.Errorf("request %s: %w", id, err)
		}
		if due {
			return out, nil
		}
	}
	return Output{Idle: true}, nil
}
