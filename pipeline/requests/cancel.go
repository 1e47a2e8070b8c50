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

// ErrTooLate is returned for a request that cannot be cancelled any more: something may have
// been rewritten for it, or it has ended. Its text names the state.
var ErrTooLate = errors.New("too late to cancel")

// ErrDigest is returned if the request that has the id has another digest.
var ErrDigest = errors.New("the request has another digest")

// Cancel takes a request back, which Find finds by a name or a digest, and waits for lethe to say so. A zero digest
// stands for that of
// the request as its status says it. What comes back is the status: of state cancelled, or, with
// ErrTooLate, another. Errors: ErrUnknown, ErrDigest, ErrTooLate, those of the brokers.
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
