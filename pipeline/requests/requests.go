// Package requests is the compliance side of an erasure: it submits requests to
// erasures.v1 and follows them on erasure-status.v1. It needs brokers only, no
// data directory and no secret.
package requests

import (
	"cmp"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"lethe"
	"lethe/deletions"
	"lethe/ingest"
	"lethe/ingest/bus"
	"lethe/pipeline/wire"
)

// ErrUnknown is returned for a request that erasure-status.v1 does not name: it
// was never submitted, or lethe has not read it yet.
var ErrUnknown = errors.New("no such erasure request")

// Bus is what this package needs of the topics; *bus.Client is one.
type Bus interface {
	wire.Publisher
	// ReadAll reads a topic from its start to where it ends now.
	ReadAll(ctx context.Context, t bus.Topic, fn func(ingest.Record) error) error
}

// NewID makes a request id that says nothing about the subject.
func NewID(random io.Reader) (string, error) {
	var b [8]byte
	if _, err := io.ReadFull(random, b[:]); err != nil {
		return "", fmt.Errorf("request id: %w", err)
	}
	return "erase-" + hex.EncodeToString(b[:]), nil
}

// Submit publishes a request. It returns once the brokers have it.
func Submit(ctx context.Context, topics Bus, r lethe.ErasureRequest, at time.Time) error {
	key, value, err := ingest.EncodeErasure(r, at)
	if err != nil {
		return err
	}
	return topics.Write(ctx, bus.Erasures, []ingest.Outgoing{{Key: key, Value: value}})
}

// List returns the newest status of every request, oldest first.
func List(ctx context.Context, topics Bus) ([]deletions.Status, error) {
	byID := make(map[string]deletions.Status)
	err := topics.ReadAll(ctx, bus.ErasureStatus, func(rec ingest.Record) error {
		n, err := wire.ParseNotice(rec)
		if err == nil && n.Status != nil {
			byID[n.Status.RequestID] = *n.Status
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	var out []deletions.Status
	for _, s := range byID {
		out = append(out, s)
	}
	slices.SortFunc(out, func(a, b deletions.Status) int {
		return cmp.Or(a.ReceivedAt.Compare(b.ReceivedAt), cmp.Compare(a.RequestID, b.RequestID))
	})
	return out, nil
}

// Get returns the newest status of a request, or ErrUnknown.
func Get(ctx context.Context, topics Bus, requestID string) (deletions.Status, error) {
	all, err := List(ctx, topics)
	if err != nil {
		return deletions.Status{}, err
	}
	for _, s := range all {
		if s.RequestID == requestID {
			return s, nil
		}
	}
	return deletions.Status{}, fmt.Errorf("%w: %s", ErrUnknown, requestID)
}

const pollInterval = 200 * time.Millisecond

// Wait follows a request until it is verified or rejected, or the context ends.
// progress, if not nil, is called with every state.
func Wait(
	ctx context.Context, topics Bus, requestID string, progress func(deletions.Status),
) (deletions.Status, error) {
	var last deletions.State
	for {
		s, err := Get(ctx, topics, requestID)
		if err != nil && !errors.Is(err, ErrUnknown) {
			return s, err
		}
		if err == nil && s.State != last {
			last = s.State
			if progress != nil {
				progress(s)
			}
			if s.State.Final() {
				return s, nil
			}
		}
		select {
		case <-time.After(pollInterval):
		case <-ctx.Done():
			return s, fmt.Errorf("request %s is %s: %w", requestID, cmp.Or(string(last), "not read yet"), ctx.Err())
		}
	}
}
