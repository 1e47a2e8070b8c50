package snapshot

import (
	"context"
	"errors"

	"lethe"
	"lethe/snapshot/index"
)

// Watermark returns the lowest watermark of a stream's partitions.
func Watermark(s *Store, stream Stream) lethe.Timestep { return s.staging.watermark(stream) }

// CloseTimestep closes a timestep in one go.
func CloseTimestep(ctx context.Context, s *Store, t lethe.Timestep) error {
	if err := s.closing.finish(ctx); err != nil {
		return err
	}
	c, err := s.BeginClosing(t)
	if err == nil && c != nil {
		err = errors.Join(c.Finish(ctx), c.Sync())
		c.Clean()
	}
	return err
}

// LearnAtOnce is how many transactions a store that was opened just now learns of at a time.
func LearnAtOnce(s *Store, n int) { s.staging.index.AtOnce = n }

// Unknown returns how many transactions a store takes for strangers though it has them, and whether it has learnt of
// all that it had when it was opened.
func Unknown(s *Store) (n int, learnt bool, err error) {
	err = s.staging.Scan([]byte{index.Kind}, func(key, _ []byte) error {
		if !s.staging.index.MayKnow(lethe.Pseudonym(key[1:])) {
			n++
		}
		return nil
	})
	return n, s.staging.index.Learnt(), err
}

// ScrubAtOnce writes staging anew in one go.
func ScrubAtOnce(ctx context.Context, s *Store) error {
	scrub, err := s.BeginScrub()
	if err == nil {
		err = scrub.Fill(ctx)
	}
	if err == nil {
		err = scrub.Switch()
	}
	if err == nil {
		err = scrub.Clean()
	}
	return err
}
