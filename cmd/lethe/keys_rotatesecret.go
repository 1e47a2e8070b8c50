package main

import (
	"cmp"
	"crypto/rand"
	"log/slog"
	"path/filepath"
	"time"

	"lethe/internal/command"
	"lethe/service/rekey"
)

type keysRotateCmd struct {
	command.ConfigFlags
	To   string `help:"New data directory, which must not exist (default: DATA_DIR.rotated)." placeholder:"DIR"`
	Plan bool   `help:"Print what would be done, and do nothing."`
	JSON bool   `help:"Print one JSON document."`
}

// Help shows an example.
func (keysRotateCmd) Help() string {
	return `Example:
  lethe keys rotate-secret --data-dir lethe-data --plan
  lethe keys rotate-secret --data-dir lethe-data
  lethe run --data-dir lethe-data.rotated

Pseudonyms determine the order of transactions and every random draw. With a new secret, graphs,
slices and models are therefore rebuilt from the source topics. The command makes a second data
directory with a new secret, and lethe run rebuilds the rest there. Stop lethe run first, and use its
configuration. lethe-data is unchanged: delete it once the new directory has caught up (lethe status)
and lethe verify succeeds on it. If the command is interrupted, call it again; if it was killed, delete
the new directory first.

The previous secret stays beside the new one (keys/secret.ledger), because earlier erasures are
recorded under it. Receipts, log and signing key stay the same. This works with the embedded broker
only; docs/keys.md describes what to do with external brokers.`
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
	to, err := filepath.Abs(cmp.Or(c.To, config.DataDir+".rotated"))
	if err != nil {
		return err
	}
	r := rekey.Rotate{
		Config: config, To: to, Random: rand.Reader, Now: time.Now,
		Logger: slog.New(slog.DiscardHandler), Progress: command.NewProgress(a.Stderr).Reached,
	}
	if c.Plan {
		p, err := r.Plan(a.Context)
		if err != nil {
			return err
		}
		return a.Print(c.JSON, p, "%s is made of %s, which stays as it is; the ledger's %d requests go on\n"+
			"it has %d bytes, as many are needed for the new one\nnothing was changed\n", p.New, p.DataDir, p.Requests, p.Bytes)
	}
	out, err := r.Run(a.Context)
	if err != nil {
		return err
	}
	return a.Print(c.JSON, out, "%s has secret %s, which follows %s\nstart lethe run --data-dir %s, which makes graphs, "+
		"slices and models there; once it has caught up and lethe verify succeeds, remove %s, with every copy of its keys\n",
		out.New, out.NewSecret, out.Secret, out.New, out.DataDir)
}
