// Package requests is the compliance side of an erasure: it submits requests to
// erasures.v1 and follows them on erasure-status.v1. It needs brokers only, no
// data directory and no secret.
package requests

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"lethe"
	"lethe/deletions"
	"lethe/ingest"
	"lethe/ingest/bus"
	"lethe/internal/sleep"
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
	// ReadNew is ReadAll of what stands behind the positions, by partition, and moves them
	// on.
	ReadNew(ctx context.Context, t bus.Topic, positions map[int]int64, fn func(ingest.Record) error) error
}

// NewID makes a request id that says nothing about the subject.
func NewID(random io.Reader) (string, error) { return randomHex("erase-", "request id", 8, random) }

// randomHex returns n random bytes in hexadecimal behind a prefix.
func randomHex(prefix, what string, n int, random io.Reader) (string, error) {
	b := make([]byte, n)
	if _, err := io.ReadFull(random, b); err != nil {
		return "", fmt.Errorf("%s: %w", what, err)
	}
	return prefix + hex.EncodeToString(b), nil
}

// pause waits until topics are read again, or returns the context's error.
func pause(ctx context.Context) error { return sleep.For(ctx, pollInterval) }

// Submitted is a request that was published: what its status is told by.
type Submitted struct {
	RequestID string
	Digest    lethe.Digest
}

// Sealed returns the request with a nonce, if it has none.
func Sealed(r lethe.ErasureRequest, random io.Reader) (lethe.ErasureRequest, error) {
	var err error
	if r.Nonce == "" {
		r.Nonce, err = randomHex("", "nonce", 16, random)
	}
	return r, err
}

// Submit publishes a request. It returns once the brokers have it. Errors:
// deletions.ErrNamesTarget for a request id that lethe would refuse, those of
// encoding and of the brokers.
func Submit(ctx context.Context, topics Bus, r lethe.ErasureRequest, at time.Time) (Submitted, error) {
	r, err := Sealed(r, rand.Reader)
	if err != nil {
		return Submitted{}, err
	}
	if deletions.NamesTarget(r) {
		return Submitted{}, deletions.ErrNamesTarget
	}
	key, value, err := ingest.EncodeErasure(r, at)
	if err != nil {
		return Submitted{}, err
	}
	digest, err := deletions.RequestDigest(r)
	if err != nil {
		return Submitted{}, err
	}
	return Submitted{r.RequestID, digest}, topics.Write(ctx, bus.Erasures, []ingest.Outgoing{{Key: key, Value: value}})
}

// newest returns the newest status under every key of the topic.
func newest(ctx context.Context, topics Bus) (map[string]deletions.Status, error) {
	out := make(map[string]deletions.Status)
	err := topics.ReadAll(ctx, bus.ErasureStatus, func(rec ingest.Record) error {
		note(out, rec)
		return nil
	})
	return out, err
}

// note keeps the status that a record says. What lethe did not write says nothing; the
// service names it.
func note(newest map[string]deletions.Status, rec ingest.Record) {
	if s, says := statusOf(rec); says {
		newest[string(rec.Key)] = s
	}
}

// statusOf returns the status that a record says. That of another request than its key names says nothing: somebody has
// written it there.
func statusOf(rec ingest.Record) (s deletions.Status, says bool) {
	n, err := wire.ParseNotice(rec)
	if err != nil || n.Status == nil || n.Status.Key() != string(rec.Key) {
		return s, false
	}
	return *n.Status, true
}

// List returns the newest status of every request, oldest first. A request that
// repeats another is not listed a second time.
func List(ctx context.Context, topics Bus) ([]deletions.Status, error) {
	return Follow(topics).List(ctx)
}

// Statuses are those of all requests, for whoever asks for them again and again: every record of
// the topic is read once.
type Statuses struct {
	topics    Bus
	positions map[int]int64
	newest    map[string]deletions.Status
}

// Follow returns the statuses that a topic has, of which none is read yet.
func Follow(topics Bus) *Statuses {
	return &Statuses{topics, make(map[int]int64), make(map[string]deletions.Status)}
}

// List is List, as the topic is now.
func (f *Statuses) List(ctx context.Context) ([]deletions.Status, error) {
	err := f.topics.ReadNew(ctx, bus.ErasureStatus, f.positions, func(rec ingest.Record) error {
		note(f.newest, rec)
		return nil
	})
	if err != nil {
		return nil, err
	}
	var out []deletions.Status
	for _, s := range f.newest {
		if s.Repeats.IsZero() {
			out = append(out, s)
		}
	}
	slices.SortFunc(out, func(a, b deletions.Status) int {
		return cmp.Or(a.ReceivedAt.Compare(b.ReceivedAt), cmp.Compare(a.RequestID, b.RequestID))
	})
	return out, nil
}

// ErrSeveral is returned for digits with which the digests of several requests begin.
var ErrSeveral = errors.New("several requests have a digest that begins so: give more digits")

// LeastDigits is how many digits of a request's digest name it at least.
const LeastDigits = 8

// Find returns the newest statuses of the requests that a key names: by a digest, or by at least LeastDigits of it, the
// one that has it; by a name all that were submitted under it, the one that has the name first. A request that repeats
// another is that one. Errors: ErrUnknown, ErrSeveral, those of the brokers.
func Find(ctx context.Context, topics Bus, key string) ([]deletions.Status, error) {
	byKey, err := newest(ctx, topics)
	if err != nil {
		return nil, err
	}
	var named, begin []deletions.Status
	for _, s := range byKey {
		if first, known := byKey[s.RequestID]; known && !s.Repeats.IsZero() && first.RequestDigest == s.Repeats {
			if s.RequestDigest.String() == key {
				return []deletions.Status{first}, nil
			}
			continue
		}
		if s.RequestDigest.String() == key {
			begin, named = []deletions.Status{s}, nil
			break
		}
		if s.RequestID == key {
			named = append(named, s)
		}
		if len(key) >= LeastDigits && strings.HasPrefix(s.RequestDigest.String(), key) {
			begin = append(begin, s)
		}
	}
	switch {
	case len(named) > 0:
		slices.SortFunc(named, func(a, b deletions.Status) int {
			return cmp.Or(cmp.Compare(len(a.Key()), len(b.Key())), a.ReceivedAt.Compare(b.ReceivedAt),
				cmp.Compare(a.Key(), b.Key()))
		})
		return named, nil
	case len(begin) > 1:
		return nil, fmt.Errorf("%w: %s", ErrSeveral, key)
	case len(begin) == 1:
		return begin, nil
	default:
		return nil, fmt.Errorf("%w: %s", ErrUnknown, key)
	}
}

// one returns the request that a key names as Find has it; of several under one name the one that has it.
func one(ctx context.Context, topics Bus, key string) (deletions.Status, error) {
	list, err := Find(ctx, topics, key)
	if err != nil {
		return deletions.Status{}, err
	}
	return list[0], nil
}

// inOrder returns the outcomes in the order in which a repeated request names the
// targets.
func inOrder(outcomes, asked []deletions.TargetOutcome) []deletions.TargetOutcome {
	of := make(map[lethe.Digest]deletions.TargetOutcome)
	for _, o := range outcomes {
		of[o.Target] = o
	}
	out := slices.Clone(asked)
	for i, o := range out {
		if known, ok := of[o.Target]; ok {
			out[i] = known
		}
	}
	return out
}
