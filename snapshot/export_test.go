package snapshot

import (
	"context"
	"errors"

	"lethe"
)

// Watermark returns the lowest watermark of a stream's partitions.
func Watermark(s *Store, stream Stream) lethe.Timestep { return s.staging.watermark(stream) }

// CloseTimestep closes a timestep in one go.
func CloseTimestep(ctx context.Context, s *Store, t lethe.Timestep) error {
	if err := finishAll(ctx, s); err != nil {
		return err
	}
	c, err := s.BeginClosing(t)
	if err == nil && c != nil {
		err = errors.Join(c.Finish(ctx), c.Sync())
	}
	return err
}
