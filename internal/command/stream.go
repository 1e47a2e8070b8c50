package command

import (
	"context"

	"lethe"
	"lethe/dataset"
)

// LoadStream reads a folder in Elliptic's format: all timesteps, or those that
// --steps names as in 1-30.
func LoadStream(ctx context.Context, dir, steps string) (*dataset.Stream, error) {
	var from, to lethe.Timestep
	if steps != "" {
		var err error
		if from, to, err = dataset.ParseSteps(steps); err != nil {
			return nil, Usagef("--steps is %q: %w", steps, err)
		}
	}
	stream, err := dataset.LoadElliptic(ctx, dir)
	if err != nil || steps == "" {
		return stream, err
	}
	if stream, err = stream.Slice(from, to); err != nil {
		return nil, Usagef("--steps is %q: %w", steps, err)
	}
	return stream, nil
}
