// Package requests is the compliance side of erasures: it submits requests to erasures.v1 and follows
// erasure-status.v1, with brokers only.
package requests

import (
	"bytes"
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

// ErrUnknown means that erasure-status.v1 has no such request, or not yet.
var ErrUnknown = errors.New("no such erasure request")

// Bus is a *bus.Client.
type Bus interface {
	wire.Publisher
	ReadAll(ctx context.Context, t bus.Topic, fn func(ingest.Record) error) error
	// ReadNew reads the records behind the positions, by partition, and advances them.
	ReadNew(ctx context.Context, t bus.Topic, positions map[int]int64, fn func(ingest.Record) error) error
}

// NewID makes a random request id.
func NewID(random io.Reader) (string, error) { return randomHex("erase-", "request id", 8, random) }

func randomHex(prefix, what string, n int, random io.Reader) (string, error) {
	b := make([]byte, n)
	if _, err := io.ReadFull(random, b); err != nil {
		return "", fmt.Errorf("%s: %w", what, err)
	}
	return prefix + hex.EncodeToString(b), nil
}

// pause waits before topics are read again.
func pause(ctx context.Context) error { return sleep.For(ctx, pollInterval) }

// Submitted identifies a published request.
type Submitted struct {
	RequestID string
	Digest    lethe.Digest
}

// Sealed adds a nonce if there is none.
func Sealed(r lethe.ErasureRequest, random io.Reader) (lethe.ErasureRequest, error) {
	var err error
	if r.Nonce == "" {
		r.Nonce, err = randomHex("", "nonce", 16, random)
	}
	return r, err
}

// Submit publishes a request and waits for the brokers. Errors: deletions.ErrNamesTarget, of encoding, the brokers'.
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

// List returns the newest status of every request, oldest first, without repetitions.
func List(ctx context.Context, topics Bus) ([]deletions.Status, error) {
	return Follow(topics).List(ctx)
}

// Statuses follows statuses, reading each record once.
type Statuses struct {
	topics Bus
	// text is what a record must contain to be decoded, which takes far longer; any record does if it is empty.
	text      []byte
	positions map[int]int64
	// newest are the newest statuses by key.
	newest map[string]deletions.Status
}

// Follow returns the statuses of all requests, with none read yet.
func Follow(topics Bus) *Statuses { return follow(topics, "") }

func follow(topics Bus, text string) *Statuses {
	return &Statuses{topics, []byte(text), make(map[int]int64), make(map[string]deletions.Status)}
}

// read reads new statuses that lethe wrote, under their own keys.
func (f *Statuses) read(ctx context.Context) error {
	return f.topics.ReadNew(ctx, bus.ErasureStatus, f.positions, func(rec ingest.Record) error {
		if !bytes.Contains(rec.Value, f.text) {
			return nil
		}
		n, err := wire.ParseNotice(rec)
		if err == nil && n.Status != nil && n.Status.Key() == string(rec.Key) {
			f.newest[string(rec.Key)] = *n.Status
		}
		return nil
	})
}

// List is List of the present topic.
func (f *Statuses) List(ctx context.Context) ([]deletions.Status, error) {
	if err := f.read(ctx); err != nil {
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

// ErrSeveral means that several requests have digests with these digits.
var ErrSeveral = errors.New("several requests have a digest that begins so: give more digits")

// LeastDigits is the least number of digits of a digest.
const LeastDigits = 8

// Find returns the newest statuses for a key: by a digest or at least LeastDigits of it, one; by a name, all under
// it, the stored request first. A repetition is the request it repeats. Errors: ErrUnknown, ErrSeveral, the
// brokers'.
func Find(ctx context.Context, topics Bus, key string) ([]deletions.Status, error) {
	all := Follow(topics)
	if err := all.read(ctx); err != nil {
		return nil, err
	}
	var named, begin []deletions.Status
	for _, s := range all.newest {
		if first, known := all.newest[s.RequestID]; known && !s.Repeats.IsZero() && first.RequestDigest == s.Repeats {
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

// one returns Find's first.
func one(ctx context.Context, topics Bus, key string) (deletions.Status, error) {
	list, err := Find(ctx, topics, key)
	if err != nil {
		return deletions.Status{}, err
	}
	return list[0], nil
}

// inOrder returns outcomes in the order of a repeated request.
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
