package main

import (
	"fmt"

	"lethe/audit"
)

type verifyCmd struct {
	configFlags
	Fresh bool `help:"Train every shard anew from its slices and compare all checkpoints byte for byte."`
	JSON  bool `help:"Print one JSON document."`
}

// Help shows an example.
func (verifyCmd) Help() string {
	return `Example:
  lethe verify --data-dir lethe-data --fresh

It opens the stores itself: stop lethe run on the directory first. Give the same
configuration that the directory was written with.`
}

// Run checks a data directory.
func (c *verifyCmd) Run(a *app) error {
	config, err := c.load(a, nil)
	if err != nil {
		return err
	}
	p := newProgress(a.stderr)
	report, err := audit.Check(a.ctx, audit.Options{Config: config, Fresh: c.Fresh, Progress: func(done, of int) {
		p.show("trained %d of %d shards anew", done, of)
	}})
	if err != nil {
		return err
	}
	if c.JSON {
		if err := a.printJSON(report); err != nil {
			return err
		}
	} else {
		printAudit(a, report, c.Fresh)
	}
	if !report.OK {
		return fmt.Errorf("%d problems", len(report.Problems))
	}
	return nil
}

func printAudit(a *app, r *audit.Report, fresh bool) {
	fmt.Fprintf(a.stdout, "%d settled timesteps, %d transactions, %d slices, %d checkpoints, ensemble %s\n",
		r.Timesteps, r.Transactions, r.Slices, r.Checkpoints, orNone(r.EnsembleHash))
	if r.Erasures > 0 {
		fmt.Fprintf(a.stdout, "%d erasures: searched %d files, %d bytes\n", r.Erasures, r.Files, r.Bytes)
	}
	if fresh {
		fmt.Fprintf(a.stdout, "%d checkpoints trained anew in %.1f s are equal byte for byte\n", r.FreshCheckpoints, r.FreshSeconds)
	}
	for _, problem := range r.Problems {
		fmt.Fprintln(a.stdout, "problem:", problem)
	}
	if r.OK {
		fmt.Fprintln(a.stdout, "ok")
	}
}
