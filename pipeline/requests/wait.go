package requests

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"lethe"
	"lethe/deletions"
)

const pollInterval = 200 * time.Millisecond

// Wait follows a request, by its digest, until it is verified, rejected, cancelled or held. progress, if not nil,
// gets every state.
func Wait(
	ctx context.Context, topics Bus, r Submitted, progress func(deletions.Status),
) (deletions.Status, error) {
	f := followOne(topics, r.Digest)
	var last deletions.State
	for {
		s, found, err := f.answer(ctx)
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
	f, id := followOne(topics, s.RequestDigest), s.RequestID
	for !answer(s) {
		if err := pause(ctx); err != nil {
			return s, fmt.Errorf("request %s is %s, and lethe has not answered: %w", id, s.State, err)
		}
		now, found, err := f.answer(ctx)
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

// follower has the statuses of a request, and of the one that it repeats.
type follower struct {
	digest          lethe.Digest
	asked, repeated *Statuses
}

func followOne(topics Bus, digest lethe.Digest) *follower {
	return &follower{digest: digest, asked: follow(topics, digest.String())}
}

// answer returns the newest status of the request, or of the one it repeats.
func (f *follower) answer(ctx context.Context) (s deletions.Status, found bool, err error) {
	if err := f.asked.read(ctx); err != nil {
		return s, false, err
	}
	s, found = f.asked.of(f.digest)
	if !found || s.Repeats.IsZero() {
		return s, found, nil
	}
	if f.repeated == nil {
		f.repeated = follow(f.asked.topics, s.Repeats.String())
	}
	if err := f.repeated.read(ctx); err != nil {
		return s, true, err
	}
	if first, known := f.repeated.of(s.Repeats); known {
		first.Outcomes = inOrder(first.Outcomes, s.Outcomes)
		s = first
	}
	return s, true, nil
}

// of returns the newest status with a digest.
func (f *Statuses) of(digest lethe.Digest) (s deletions.Status, found bool) {
	for _, one := range f.newest {
		if one.RequestDigest == digest {
			s, found = one, true
		}
	}
	return s, found
}
