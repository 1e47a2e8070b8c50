package main

import (
	"errors"
	"log/slog"
	"os"

	"lethe/configs"
	"lethe/dataset"
	"lethe/deletions"
	"lethe/demo"
	"lethe/internal/command"
)

type demoCmd struct {
	command.ConfigFlags
	Dataset string `help:"${elliptic_or_generated}" type:"path" placeholder:"DIR"`
	Steps   int    `help:"Timesteps of the generated data, or the first so many of the dataset." placeholder:"N"`
	Serve   bool   `help:"Serve the console on the demo's data afterwards, until Ctrl-C."`
	Keep    bool   `help:"Keep the data directory that the demo makes; one named by --data-dir is kept anyway."`
	JSON    bool   `help:"Print one JSON document."`
}

// Help shows an example.
func (demoCmd) Help() string {
	return `Example:
  lethe demo
  lethe demo --serve
  lethe demo --keep
  lethe demo --dataset elliptic_bitcoin_dataset --json

The demo sends a stream through an embedded broker, scores every timestep before
its labels arrive, erases one transaction, and trains every model again from its
slices to prove that the served bytes never saw it.

With --serve the service then runs on the demo's data until Ctrl-C; the last line
is the address of the console. It takes the addresses of lethe run if they are
free, and other ports if not.

The data directory is in the temporary folder and is removed at the end. --keep or
--data-dir keeps it, to search it yourself for what was erased. Its secret is drawn
from the seed, so that two demos give the same hashes: do not use it for real data.`
}

// With fewer transactions per timestep the twenty shards have too few labels for a meaningful
// result.
const (
	demoSteps        = 20
	demoNodesPerStep = 1000
)

// Run demonstrates lethe.
func (c *demoCmd) Run(a *command.App) (err error) {
	stream, err := c.stream(a)
	if err != nil {
		return err
	}
	config, err := c.config(a)
	if err != nil {
		return err
	}
	if c.removes() {
		defer func() { err = errors.Join(err, os.RemoveAll(config.DataDir)) }()
	}
	if err := nameFeatures(&config, stream); err != nil {
		return err
	}
	served := config
	c.takeFreePorts(&config)
	p := command.NewProgress(a.Stderr)
	p.Show("%s: %d timesteps into %s", stream.Name, len(stream.Steps), config.DataDir)
	logger := slog.New(slog.DiscardHandler)
	if config.Log.Level == "debug" {
		logger = a.Logger(config.Log)
	}
	result, err := demo.Run(a.Context, demo.Options{Config: config, Stream: stream, Version: a.Version,
		Progress: p.Show, Reached: p.Reached, Logger: logger})
	if err != nil {
		return err
	}
	p.Done("done")
	if c.JSON {
		err = a.PrintJSON(result)
	} else {
		err = printDemo(a, result, afterwards{serves: c.Serve, removes: c.removes()})
	}
	if err == nil {
		err = verdict(result)
	}
	if err == nil && c.Serve {
		return c.serve(a, served)
	}
	return err
}

// removes reports whether the data directory is deleted at the end.
func (c *demoCmd) removes() bool { return c.DataDir == "" && !c.Keep }

// stream loads or generates the data.
func (c *demoCmd) stream(a *command.App) (*dataset.Stream, error) {
	if c.Steps < 0 {
		return nil, command.Usagef("--steps is %d, must be at least 0", c.Steps)
	}
	if c.Dataset == "" {
		steps := c.Steps
		if steps == 0 {
			steps = demoSteps
		}
		options := dataset.GenerateDefaults()
		options.Steps, options.NodesPerStep, options.Seed = steps, demoNodesPerStep, 1
		return dataset.Generate(options)
	}
	bounds, err := c.Load(a, nil)
	if err != nil {
		return nil, err
	}
	stream, err := command.LoadStream(a, c.Dataset, "", bounds)
	if err == nil && c.Steps > 0 && c.Steps < len(stream.Steps) {
		stream.Steps = stream.Steps[:c.Steps]
	}
	return stream, err
}

// takeFreePorts makes the demo listen on free ports, so that it never disturbs a service.
func (c *demoCmd) takeFreePorts(config *configs.Config) {
	config.Embedded.Port = 0
	if c.HTTPAddress == "" {
		config.HTTP.Address = anyPort
	}
}

// config uses a new data directory unless one is given.
func (c *demoCmd) config(a *command.App) (configs.Config, error) {
	extra := make(map[string]any)
	if len(c.Brokers) > 0 {
		return configs.Config{}, command.Usagef("the demo brings its own broker; use lethe run --brokers with lethe replay")
	}
	made, err := c.FreshDataDir("lethe-demo-", "the demo")
	if err != nil {
		return configs.Config{}, err
	}
	if made != "" {
		extra["data_dir"] = made
	}
	return c.Load(a, extra)
}

var errDemo = errors.New("the erasure was not verified")

func verdict(r *demo.Result) error {
	for _, e := range r.Erasures {
		if e.State != deletions.Verified || !e.ReceiptValid {
			return errDemo
		}
	}
	return nil
}
