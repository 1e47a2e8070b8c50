package requests

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"lethe"
	"lethe/deletions"
	"lethe/ingest"
	"lethe/ingest/bus"
)

// ErrNotWaiting means that the request waits for no signature.
var ErrNotWaiting = errors.New("the request does not wait for a signature")

// Waiting returns a request that waits for another signature, from its record and status, which must agree. Errors:
// ErrUnknown, ErrNotWaiting, ErrDigest, the brokers'.
func Waiting(
	ctx context.Context, topics Bus, requestID string,
) (r lethe.ErasureRequest, s deletions.Status, err error) {
	if s, err = awaiting(ctx, topics, requestID); err != nil {
		return r, s, err
	}
	requestID = s.RequestID
	found := false
	if err := topics.ReadAll(ctx, bus.Erasures, func(rec ingest.Record) error {
		if string(rec.Key) != requestID {
			return nil
		}
		event, err := ingest.DecodeErasure(rec, ingest.DefaultLimits())
		request, is := event.(ingest.Erasure)
		if found = err == nil && is; found {
			r = request.ErasureRequest
		}
		return nil
	}); err != nil {
		return r, s, err
	}
	if !found {
		return r, s, fmt.Errorf("%w: the record of request %s is not in the topic", ErrUnknown, requestID)
	}
	if digest, err := deletions.RequestDigest(r); err != nil || digest != s.RequestDigest {
		other := fmt.Errorf("%w: the record of request %s is another than its status is of", ErrDigest, requestID)
		return r, s, errors.Join(other, err)
	}
	if r.Scope == "" {
		r.Scope = s.Scope
	}
	return r, s, nil
}

func awaiting(ctx context.Context, topics Bus, requestID string) (deletions.Status, error) {
	s, err := one(ctx, topics, requestID)
	if err == nil && !s.AwaitsSignature() {
		err = fmt.Errorf("%w: request %s is %s", ErrNotWaiting, s.RequestID, s.State)
	}
	return s, err
}

// Approve signs another person's request, by topics that sign, and waits for the new status. Errors: ErrUnknown,
// ErrNotWaiting, ErrDigest, ErrUnsigned, ErrRefused, the brokers'.
func Approve(
	ctx context.Context, topics Bus, requestID string, digest lethe.Digest, at time.Time,
) (deletions.Status, error) {
	s, err := awaiting(ctx, topics, requestID)
	if err != nil {
		return s, err
	}
	requestID = s.RequestID
	if digest != s.RequestDigest {
		return s, fmt.Errorf("%w: request %s has %s", ErrDigest, requestID, s.RequestDigest)
	}
	key, value, err := ingest.EncodeApprove(ingest.Approve{RequestID: requestID, Digest: digest, RequestedAt: at})
	if err != nil {
		return s, err
	}
	if err := topics.Write(ctx, bus.Erasures, []ingest.Outgoing{{Key: key, Value: value}}); err != nil {
		return s, err
	}
	before := s.SignedBy
	return answered(ctx, topics, s, func(s deletions.Status) bool {
		return s.State != deletions.Held || !slices.Equal(s.SignedBy, before)
	})
}

// ErrTooLate means that something may have been rewritten for the request, or it has ended.
var ErrTooLate = errors.New("too late to cancel")

// ErrDigest means that the request of that id has another digest.
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
