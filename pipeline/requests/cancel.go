package requests

import (
	"context"
	"errors"
	"fmt"
	"time"

	"lethe"
	"lethe/deletions"
	"lethe/ingest"
	"lethe/ingest/bus"
)

// ErrTooLate: something may have been rewritten for the request, or it has ended.
var ErrTooLate = errors.New("too late to cancel")

// ErrDigest: the request of that id has another digest.
var ErrDigest = errors.New("the request has another digest")

// Cancel cancels the request that Find finds, and waits for the new status: cancelled, or another with ErrTooLate. A
// zero digest is that of the status. Errors: ErrUnknown, ErrDigest, ErrTooLate, the brokers'.
func Cancel(
	ctx context.Context, topics Bus, requestID string, digest lethe.Digest, at time.Time,
) (deletions.Status, error) {
	s, err := one(ctx, topics, requestID)
	if err != nil {
		return s, err
	}
	requestID = s.RequestID
	if !digest.IsZero() && digest != s.RequestDigest {
		return s, fmt.Errorf("%w: request %s has %s", ErrDigest, requestID, s.RequestDigest)
	}
	digest = s.RequestDigest
	if s.State.Cancellable() {
		key, value, err := ingest.EncodeCancel(ingest.Cancel{RequestID: requestID, Digest: digest, RequestedAt: at})
		if err != nil {
			return s, err
		}
		if err := topics.Write(ctx, bus.Erasures, []ingest.Outgoing{{Key: key, Value: value}}); err != nil {
			return s, err
		}
	}
	s, err = answered(ctx, topics, s, func(s deletions.Status) bool { return !s.State.Cancellable() })
	if err != nil {
		return s, err
	}
	if s.State != deletions.Cancelled {
		return s, fmt.Errorf("%w: request %s is %s; it can be cancelled until it is rewriting",
			ErrTooLate, requestID, s.State)
	}
	return s, nil
}
