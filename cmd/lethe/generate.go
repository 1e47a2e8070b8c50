package main

import (
	"errors"
	"fmt"

	"lethe/dataset"
	"lethe/internal/command"
)

type generateCmd struct {
	Out          string `help:"Folder for the CSV files and feature names." required:"" type:"path" placeholder:"DIR"`
	Steps        int    `help:"${generate_steps}" default:"${generate_steps_default}"`
	NodesPerStep int    `help:"${generate_nodes_per_step}" default:"${generate_nodes_per_step_default}"`
	Features     int    `help:"${generate_features}" default:"${generate_features_default}"`
	Seed         uint64 `help:"${generate_seed}" default:"1"`
	Force        bool   `help:"Write into a folder that is not empty."`
	JSON         bool   `help:"Print one JSON document."`
}

// Help shows an example.
func (generateCmd) Help() string {
	return `Example:
  lethe generate --out stream --steps 30 --nodes-per-step 1000 --seed 7
  lethe run --set scoring.feature_names=stream/feature_names.txt

About 2 % of the transactions are labelled illicit, 21 % licit, and the rest are
unknown. Fan-in, fan-out, cycles, layering and scatter-gather are laid into the
payments; their features are informative but noisy, and drift part-way.

feature_names.txt has the name of each feature; reasons show them if
scoring.feature_names is this file.`
}

// Run writes the stream.
func (c *generateCmd) Run(a *command.App) error {
	options := dataset.GenerateDefaults()
	options.Steps, options.NodesPerStep, options.Features, options.Seed = c.Steps, c.NodesPerStep, c.Features, c.Seed
	if err := options.Validate(); err != nil {
		return command.WrongFlags(err)
	}
	stream, err := dataset.Generate(options)
	if err != nil {
		return err
	}
	err = dataset.WriteElliptic(c.Out, stream, c.Force)
	switch {
	case errors.Is(err, dataset.ErrNotEmpty):
		return fmt.Errorf("%w (name another with --out, or replace the files in it with --force)", err)
	case err != nil:
		return fmt.Errorf("%w (name another folder with --out)", err)
	}
	totals := stream.Totals()
	return a.Print(c.JSON, map[string]any{
		"out": c.Out, "timesteps": totals.Steps, "transactions": totals.Transactions, "payments": totals.Payments,
		"features": stream.FeatureCount, "illicit": totals.Labels[2], "licit": totals.Labels[1],
	}, "wrote %d timesteps, %d transactions, %d payments, %d illicit and %d licit labels\n",
		totals.Steps, totals.Transactions, totals.Payments, totals.Labels[2], totals.Labels[1])
}
