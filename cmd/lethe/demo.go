package main

import (
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"

	"lethe/configs"
	"lethe/dataset"
	"lethe/deletions"
	"lethe/demo"
	"lethe/service"
)

type demoCmd struct {
	configFlags
	Dataset string `help:"Folder with Elliptic's three CSV files; generated data without it." type:"path" placeholder:"DIR"`
	Steps   int    `help:"Timesteps of the generated data, or the first so many of the dataset." placeholder:"N"`
	Serve   bool   `help:"Keep the service running afterwards, to look around."`
	JSON    bool   `help:"Print one JSON document."`
}

// Help shows an example.
func (demoCmd) Help() string {
	return `Example:
  lethe demo
  lethe demo --dataset elliptic_bitcoin_dataset --json

A stream goes through an embedded broker: one graph per timestep, cut into fair
and balanced shards, one model per shard, predictions before the labels come in.
Then one transaction is erased, and every shard is trained anew from its slices
to show that the served bytes never saw it. The data directory is kept; its
secret is drawn from the seed, so that two demos give the same hashes, and is
therefore no secret.`
}

const demoSteps = 20

// Run runs the story.
func (c *demoCmd) Run(a *app) error {
	stream, err := c.stream(a)
	if err != nil {
		return err
	}
	config, err := c.config(a)
	if err != nil {
		return err
	}
	p := newProgress(a.stderr)
	p.show("%s: %d timesteps into %s", stream.Name, len(stream.Steps), config.DataDir)
	logger := slog.New(slog.DiscardHandler)
	if config.Log.Level == "debug" {
		logger = a.logger(config.Log)
	}
	result, err := demo.Run(a.ctx, demo.Options{Config: config, Stream: stream, Version: version, Progress: p.show, Logger: logger})
	if err != nil {
		return err
	}
	p.done("done")
	if c.JSON {
		err = a.printJSON(result)
	} else {
		err = printDemo(a, result)
	}
	if err == nil {
		err = verdict(result)
	}
	if err == nil && c.Serve {
		return c.serve(a, config)
	}
	return err
}

// stream loads or generates the data.
func (c *demoCmd) stream(a *app) (*dataset.Stream, error) {
	if c.Steps < 0 {
		return nil, usagef("--steps is %d, must not be negative", c.Steps)
	}
	if c.Dataset == "" {
		steps := c.Steps
		if steps == 0 {
			steps = demoSteps
		}
		return dataset.Generate(dataset.GenerateOptions{Steps: steps, Seed: 1})
	}
	stream, err := loadStream(a.ctx, c.Dataset, "")
	if err == nil && c.Steps > 0 && c.Steps < len(stream.Steps) {
		stream.Steps = stream.Steps[:c.Steps]
	}
	return stream, err
}

// config takes a fresh data directory unless one is named, and free ports, so
// that a demo never gets in the way of a service.
func (c *demoCmd) config(a *app) (configs.Config, error) {
	extra := map[string]any{"embedded.port": 0}
	if c.HTTPAddress == "" {
		extra["http.address"] = "127.0.0.1:0"
	}
	if len(c.Brokers) > 0 {
		return configs.Config{}, usagef("the demo brings its own broker; use lethe run --brokers with lethe replay")
	}
	if c.DataDir == "" {
		dir, err := os.MkdirTemp("", "lethe-demo-")
		if err != nil {
			return configs.Config{}, err
		}
		extra["data_dir"] = dir
	} else if entries, err := os.ReadDir(c.DataDir); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return configs.Config{}, fmt.Errorf("--data-dir %s cannot be used: %w (name a new folder)", c.DataDir, err)
	} else if len(entries) > 0 {
		return configs.Config{}, fmt.Errorf("--data-dir %s is not empty: the demo starts from nothing (name a new folder)", c.DataDir)
	}
	return c.load(a, extra)
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

func printDemo(a *app, r *demo.Result) error {
	if err := table(a.stdout, stepRows(r.Steps)); err != nil {
		return err
	}
	fmt.Fprintf(a.stdout, "\ntest timesteps %d-%d, scored before training on them: AUC %s, average precision %s, macro-F1 %.3f, illicit-F1 %.3f (%d labelled, %d illicit)\n",
		r.TestTimesteps[0], r.TestTimesteps[1], orDash(r.Test.AUC), orDash(r.Test.AveragePrecision),
		r.Test.MacroF1, r.Test.IllicitF1, r.Test.Labelled, r.Test.Illicit)
	for _, e := range r.Erasures {
		fmt.Fprintf(a.stdout, "\nerasure %s of transaction %s, scope %s: %s in %.1f s\n", e.RequestID, e.Nodes[0], e.Scope, e.State, e.Seconds)
		fmt.Fprintf(a.stdout, "  %d slices replaced, %d shards retrained (training all anew took %.1f s)\n", e.SlicesReplaced, e.ShardsRetrained, e.RetrainAllSeconds)
		fmt.Fprintf(a.stdout, "  ensemble %.16s... became %.16s...\n", e.EnsembleBefore, e.EnsembleAfter)
		fmt.Fprintf(a.stdout, "  proof: %d checkpoints trained anew from slices without it are equal byte for byte; %d files searched, nothing left\n",
			r.Audit.FreshCheckpoints, r.Audit.Files)
		fmt.Fprintf(a.stdout, "  receipt: %s (valid: %t)\n", e.Receipt, e.ReceiptValid)
		fmt.Fprintf(a.stdout, "  look for it yourself: grep -rc %s %s | grep -v ':0'\n", e.Nodes[0], r.DataDir)
	}
	fmt.Fprintf(a.stdout, "\n%d transactions, %d payments, %d predictions in %.1f s; ensemble %s\n", r.Transactions, r.Payments, r.Predictions, r.Seconds, r.EnsembleHash)
	return nil
}

// serve runs the service on the demo's data until it is interrupted.
func (c *demoCmd) serve(a *app, config configs.Config) error {
	s, err := service.New(a.ctx, service.Options{Config: config, Version: version, Logger: a.logger(config.Log)})
	if err != nil {
		return err
	}
	fmt.Fprintf(a.stderr, "lethe: serving on http://%s until interrupted\n", s.HTTPAddress())
	return errors.Join(s.Run(a.ctx), s.Close())
}
