package main

import (
	"crypto/rand"
	"fmt"
	"log/slog"
	"path/filepath"
	"time"

	"lethe/configs"
	"lethe/internal/command"
	"lethe/service/rekey"
)

type keysRotateCmd struct {
	command.ConfigFlags
	Plan bool `help:"Print what would be done, and do nothing."`
	JSON bool `help:"Print one JSON document."`
}

// Help shows an example.
func (keysRotateCmd) Help() string {
	return `Example:
  lethe keys rotate-secret --data-dir lethe-data --plan
  lethe keys rotate-secret --data-dir lethe-data

Pseudonyms determine the order of transactions and every random draw. With a new secret, graphs,
slices and models are therefore rebuilt from the source topics, in a second directory,
lethe-data.rotating. It then replaces the first directory, which is kept as
lethe-data.before-rotation: delete that once lethe verify succeeds. Stop lethe run first, and use
its configuration. If the command is interrupted, the next call completes it; lethe-data is
unchanged until it is replaced.

The previous secret stays beside the new one (keys/secret.ledger), because earlier erasures are
recorded under it. Receipts, log and signing key stay the same. This works with the embedded broker
only; docs/operations.md describes what to do with external brokers.`
}

// Run rotates the secret.
func (c *keysRotateCmd) Run(a *command.App) error {
	config, err := c.Load(a, nil)
	if err != nil {
		return err
	}
	if config.DataDir, err = filepath.Abs(config.DataDir); err != nil {
		return err
	}
	progress := command.NewProgress(a.Stderr)
	r := rekey.Rotate{
		Config: config, Version: a.Version, Random: rand.Reader, Now: time.Now,
		Logger: slog.New(slog.DiscardHandler), Progress: progress.Reached,
	}
	if c.Plan {
		p, err := r.Plan(a.Context)
		if err != nil {
			return err
		}
		if c.JSON {
			return a.PrintJSON(p)
		}
		fmt.Fprintf(a.Stdout, "%s is made anew in %s: %d timesteps settled, %d closed, %d open, %d transactions\n", p.DataDir,
			p.New, p.Timesteps.Settled, p.Timesteps.Closed, p.Timesteps.Open, p.Transactions)
		fmt.Fprintf(a.Stdout, "the ledger's %d requests go on; %s is kept as %s\n", p.Requests, p.DataDir, p.Kept)
		fmt.Fprintf(a.Stdout, "it has %d bytes, as many are needed beside it\nnothing was changed\n", p.Bytes)
		return nil
	}
	out, err := r.Run(a.Context)
	if err != nil {
		return err
	}
	if c.JSON {
		return a.PrintJSON(out)
	}
	fmt.Fprintf(a.Stdout, "%s has secret %s, which follows %s\nthe directory before is %s: check the new one with lethe "+
		"verify, then remove that, with every copy of %s\n", out.DataDir, out.NewSecret, out.Secret, out.Kept,
		filepath.Join(out.Kept, filepath.Base(filepath.Dir(configs.Config{DataDir: out.Kept}.SecretPath()))))
	return nil
}
