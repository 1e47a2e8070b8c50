package main

import (
	"errors"
	"fmt"
	"log/slog"

	"lethe/configs"
	"lethe/dataset"
	"lethe/deletions"
	"lethe/demo"
	"lethe/internal/command"
	"lethe/service"
)

type demoCmd struct {
	command.ConfigFlags
	Dataset string `help:"${elliptic_or_generated}" type:"path" placeholder:"DIR"`
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
and balanced shards, networks, trees and logistic regressions on groups of them,
predictions before the labels come in. Then one transaction is erased, and every
model is trained anew from its slices to show that the served bytes never saw it. The data directory is kept; its
secret is drawn from the seed, so that two demos give the same hashes, and is
therefore no secret.`
}

// With fewer transactions a timestep the twenty shards have too few labels to show
// anything.
const (
	demoSteps        = 20
	demoNodesPerStep = 1000
)

// Run shows lethe at work.
func (c *demoCmd) Run(a *command.App) error {
	stream, err := c.stream(a)
	if err != nil {
		return err
	}
	config, err := c.config(a)
	if err != nil {
		return err
	}
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
	stream, err := command.LoadStream(a.Context, c.Dataset, "")
	if err == nil && c.Steps > 0 && c.Steps < len(stream.Steps) {
		stream.Steps = stream.Steps[:c.Steps]
	}
	return stream, err
}

// config takes a fresh data directory unless one is named, and free ports, so
// that a demo never disturbs a service.
func (c *demoCmd) config(a *command.App) (configs.Config, error) {
	extra := map[string]any{"embedded.port": 0}
	if c.HTTPAddress == "" {
		extra["http.address"] = "127.0.0.1:0"
	}
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

func printDemo(a *command.App, r *demo.Result) error {
	if err := command.Table(a.Stdout, stepRows(r.Steps)); err != nil {
		return err
	}
	fmt.Fprintf(a.Stdout, "\ntest timesteps %d-%d, scored before training on them: AUC %s, average precision %s, "+
		"macro-F1 %.3f, illicit-F1 %.3f (%d labelled, %d illicit)\n",
		r.TestTimesteps[0], r.TestTimesteps[1], command.OrDash(r.Test.AUC), command.OrDash(r.Test.AveragePrecision),
		r.Test.MacroF1, r.Test.IllicitF1, r.Test.Labelled, r.Test.Illicit)
	if r.Test.BestF1 != nil {
		fmt.Fprintf(a.Stdout, "the best threshold in hindsight has illicit-F1 %.3f; probabilities are off by %s on average\n",
			*r.Test.BestF1, command.OrDash(r.Test.ExpectedCalibrationError))
	}
	for _, e := range r.Erasures {
		fmt.Fprintf(a.Stdout, "\nerasure %s of transaction %s, scope %s: %s in %.1f s\n", e.RequestID, e.Nodes[0], e.Scope,
			e.State, e.Seconds)
		fmt.Fprintf(a.Stdout, "  %d slices of %d shards replaced, groups refitted: %s\n", e.SlicesReplaced,
			e.ShardsRetrained, refittedText(e.GroupsRefitted))
		fmt.Fprintf(a.Stdout, "  %.2f s of processor time until the models forgot, beside %.2f s for training all anew "+
			"(%.0f %%)\n", e.CPUSecondsSwapped, e.CPUSecondsRetrainAll, 100*e.CPUSecondsSwapped/e.CPUSecondsRetrainAll)
		fmt.Fprintf(a.Stdout, "  nothing left lethe after %.2f s, the models forgot after %.2f s, every place that held it "+
			"was written anew after %.2f s, everything was searched after %.2f s\n", e.SecondsSuppressed, e.SecondsSwapped,
			e.SecondsErased, e.SecondsVerified)
		fmt.Fprintf(a.Stdout, "  searched for it before the receipt was signed: %d files and %d records of %d topics, "+
			"nothing left\n", e.Searched.Files, e.Searched.Records, e.Searched.Topics)
		fmt.Fprintf(a.Stdout, "  ensemble %.16s... became %.16s...\n", e.EnsembleBefore, e.EnsembleAfter)
		fmt.Fprintf(a.Stdout, "  proof: %d checkpoints trained anew from slices without it are equal byte for byte; "+
			"%d files and %d records of %d topics searched again, nothing left\n",
			r.Audit.FreshCheckpoints, r.Audit.Files, r.Audit.Records, r.Audit.Topics)
		fmt.Fprintf(a.Stdout, "  receipt: %s (valid: %t)\n", e.Receipt, e.ReceiptValid)
		fmt.Fprintf(a.Stdout, "  look for it yourself: grep -rc %s %s | grep -v ':0'\n", e.Nodes[0], r.DataDir)
	}
	fmt.Fprintf(a.Stdout, "\n%d transactions, %d payments, %d predictions in %.1f s; ensemble %s\n", r.Transactions,
		r.Payments, r.Predictions, r.Seconds, r.EnsembleHash)
	return nil
}

// serve runs the service on the demo's data until it is interrupted.
func (c *demoCmd) serve(a *command.App, config configs.Config) error {
	s, err := service.New(a.Context, service.Defaults(config, a.Version, a.Logger(config.Log)))
	if err != nil {
		return err
	}
	fmt.Fprintf(a.Stderr, "lethe: serving on http://%s until interrupted\n", s.HTTPAddress())
	return errors.Join(s.Run(a.Context), s.Close())
}
