package main

import (
	"fmt"

	"lethe/audit"
	"lethe/internal/command"
)

type verifyCmd struct {
	command.ConfigFlags
	Fresh bool `help:"Retrain every model from its slices and compare all checkpoints byte for byte."`
	JSON  bool `help:"Print one JSON document."`
}

// Help shows an example.
func (verifyCmd) Help() string {
	return `Example:
  lethe verify --data-dir lethe-data --fresh

Stop lethe run on the data directory first, because this command opens the stores itself. Use the
configuration that the directory was written with.`
}

// Run checks a data directory.
func (c *verifyCmd) Run(a *command.App) error {
	config, err := c.Load(a, nil)
	if err != nil {
		return err
	}
	p := command.NewProgress(a.Stderr)
	report, err := audit.Check(a.Context, audit.Options{Config: config, Fresh: c.Fresh, Progress: func(done, of int) {
		p.Show("trained %d of %d models anew", done, of)
	}})
	if err != nil {
		return err
	}
	if c.JSON {
		if err := a.PrintJSON(report); err != nil {
			return err
		}
	} else {
		printAudit(a, report, c.Fresh)
	}
	if !report.OK {
		return fmt.Errorf("%d problems, named above", len(report.Problems))
	}
	return nil
}

func printAudit(a *command.App, r *audit.Report, fresh bool) {
	fmt.Fprintf(a.Stdout, "%d settled timesteps, %d transactions, %d slices, %d checkpoints, ensemble %s\n",
		r.Timesteps, r.Transactions, r.Slices, r.Checkpoints, orNone(r.EnsembleHash))
	if r.Erasures > 0 {
		fmt.Fprintf(a.Stdout, "%d erasures: searched %d files, %d bytes, and the content of %d records of %d topics\n",
			r.Erasures, r.Files, r.Bytes, r.Records, r.Topics)
	}
	if fresh {
		fmt.Fprintf(a.Stdout, "%d models, a meta-model included, trained anew in %.1f s are equal byte for byte\n",
			r.FreshCheckpoints, r.FreshSeconds)
	}
	if n := len(r.Untrained); n > 0 {
		fmt.Fprintf(a.Stdout, "training is under way: %d of %d timesteps, from %d on, have not been learnt by every model "+
			"yet; lethe run continues with it\n", n, r.Timesteps, r.Untrained[0])
	}
	for _, problem := range r.Problems {
		fmt.Fprintln(a.Stdout, "problem:", problem)
	}
	if r.OK {
		fmt.Fprintln(a.Stdout, "ok")
	}
}
