package requests

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"time"

	"lethe"
	"lethe/deletions"
	"lethe/ingest"
	"lethe/ingest/bus"
)

const pollInterval = 200 * time.Millisecond

// Wait follows a request, by its digest, until it is verified, rejected, cancelled or held. progress, if not nil,
// gets every state.
func Wait(
	ctx context.Context, topics Bus, r Submitted, progress func(deletions.Status),
) (deletions.Status, error) {
	f := follower{topics: topics}
	f.follow(r.Digest)
	var last deletions.State
	for {
		s, found, err := f.answer(ctx, r.Digest)
		if err != nil {
			return s, err
		}
		if found && s.State != last {
			last = s.State
			if progress != nil {
				progress(s)
			}
			if ended(s) {
				return s, nil
			}
		}
		if err := pause(ctx); err != nil {
			return s, fmt.Errorf("request %s is %s: %w", r.RequestID, cmp.Or(string(last), "not read yet"), err)
		}
	}
}

// answered follows a request until answer accepts its status, which it returns.
func answered(
	ctx context.Context, topics Bus, s deletions.Status, answer func(deletions.Status) bool,
) (deletions.Status, error) {
	f, id, digest := follower{topics: topics}, s.RequestID, s.RequestDigest
	f.follow(digest)
	for !answer(s) {
		if err := pause(ctx); err != nil {
			return s, fmt.Errorf("request %s is %s, and lethe has not answered: %w", id, s.State, err)
		}
		now, found, err := f.answer(ctx, digest)
		if err != nil {
			return s, err
		}
		if found {
			s = now
		}
	}
	return s, nil
}

// ended reports whether the state is awaited no longer.
func ended(s deletions.Status) bool { return s.State.Final() || s.State == deletions.Held }

// follower has the newest statuses of a request and of the one it repeats. It reads every record once or twice.
type follower struct {
	topics Bus
	// text is the digest that a status must contain to be decoded, which takes far longer.
	text      []byte
	positions map[int]int64
	newest    map[string]deletions.Status
}

// follow starts with a digest.
func (f *follower) follow(digest lethe.Digest) {
	f.text = []byte(digest.String())
	f.positions, f.newest = make(map[int]int64), make(map[string]deletions.Status)
}

// answer returns the newest status of the digest's request, or of the one it repeats. Statuses of a repetition
// contain the other's digest.
func (f *follower) answer(ctx context.Context, digest lethe.Digest) (s deletions.Status, found bool, err error) {
	if err := f.read(ctx); err != nil {
		return s, false, err
	}
	s, found = f.of(digest)
	if !found || s.Repeats.IsZero() {
		return s, found, nil
	}
	if first := s.Repeats.String(); first != string(f.text) {
		f.follow(s.Repeats)
		if err := f.read(ctx); err != nil {
			return s, true, err
		}
	}
	if first, known := f.of(s.Repeats); known {
		first.Outcomes = inOrder(first.Outcomes, s.Outcomes)
		s = first
	}
	return s, true, nil
}

func (f *follower) read(ctx context.Context) error {
	return f.topics.ReadNew(ctx, bus.ErasureStatus, f.positions, func(rec ingest.Record) error {
		if bytes.Contains(rec.Value, f.text) {
			addStatus(f.newest, rec)
		}
		return nil
	})
}

// of returns the newest status with a digest.
func (f *follower) of(digest lethe.Digest) (s deletions.Status, found bool) {
	for _, one := range f.newest {
		if one.RequestDigest == digest {
			s, found = one, true
		}
	}
	return s, found
}
