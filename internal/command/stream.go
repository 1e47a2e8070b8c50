package command

import (
	"fmt"

	"lethe"
	"lethe/configs"
	"lethe/dataset"
)

// LoadStream reads a folder in Elliptic's format: all timesteps, or those of --steps, for example 1-30. A record
// that a deployment with this configuration would reject is an error that names the file, the row and the column.
func LoadStream(a *App, dir, steps string, c configs.Config) (*dataset.Stream, error) {
	var from, to lethe.Timestep
	if steps != "" {
		var err error
		if from, to, err = dataset.ParseSteps(steps); err != nil {
			return nil, Usagef("--steps is %q: %w", steps, err)
		}
	}
	stream, err := dataset.LoadWithin(a.Context, dir, dataset.Bounds{
		Magnitude: c.Ingest.Records.MaxMagnitude, Features: c.Ingest.Records.MaxFeatureCount,
		First: c.Ingest.FirstTimestep, Jump: c.Ingest.MaxTimestepJump,
	})
	if err != nil {
		return nil, err
	}
	if stream.Repeated > 0 {
		fmt.Fprintf(a.Stderr, "%s: %d rows repeat a payment and count once\n", dataset.EdgesFile, stream.Repeated)
	}
	if steps == "" {
		return stream, nil
	}
	if stream, err = stream.Slice(from, to); err != nil {
		return nil, Usagef("--steps is %q: %w", steps, err)
	}
	return stream, nil
}
