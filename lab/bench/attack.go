package bench

import (
	"context"
	"errors"
	"fmt"
	"os"

	"lethe/configs"
	"lethe/dataset"
	"lethe/lab/attack"
)

// AttackCell attacks a deployment of lethe before and after erasures that go
// through the public path.
type AttackCell struct {
	Shards int    `json:"shards"`
	Hidden int    `json:"hidden"`
	Seed   uint64 `json:"seed"`
	// Timesteps takes the first so many of the stream; 0 takes all.
	Timesteps int `json:"timesteps,omitempty"`
	// Requests and Targets are attack.Options'; 0 is its default.
	Requests int `json:"requests,omitempty"`
	Targets  int `json:"targets,omitempty"`
}

// run deploys lethe in a folder that is removed afterwards.
func (c AttackCell) run(ctx context.Context, stream *dataset.Stream) (_ *attack.Report, err error) {
	dir, err := os.MkdirTemp("", "lethe-evaluate-")
	if err != nil {
		return nil, fmt.Errorf("attacked deployment: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	config := configs.PerShard()
	config.DataDir, config.Seed = dir, c.Seed
	config.Partition.Shards, config.Trainer.Hidden = c.Shards, c.Hidden
	config.Embedded.Port, config.HTTP.Address = 0, "127.0.0.1:0"
	return attack.Run(ctx, c.options(stream, config))
}

// options are attack's defaults but for what the cell names.
func (c AttackCell) options(stream *dataset.Stream, config configs.Config) attack.Options {
	part := *stream
	if c.Timesteps > 0 && c.Timesteps < len(part.Steps) {
		part.Steps = part.Steps[:c.Timesteps]
	}
	o := attack.Defaults(&part, config)
	o.Seed, o.Version = c.Seed, "evaluate"
	if c.Targets > 0 {
		o.Targets, o.Requests = c.Targets, attack.RequestsFor(c.Targets)
	}
	if c.Requests > 0 {
		o.Requests = c.Requests
	}
	return o
}
