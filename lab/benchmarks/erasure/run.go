package main

import (
	"context"
	"fmt"
	"os"
	"time"

	"lethe"
	"lethe/configs"
	"lethe/dataset"
)

// runCmd measures.
type runCmd struct {
	Dataset   string            `type:"path" help:"Folder with Elliptic's three CSV files; generated data without it."`
	Steps     int               `default:"49" help:"Timesteps of the generated data."`
	Nodes     int               `default:"4159" help:"Transactions of each generated timestep."`
	Features  int               `default:"${features}" help:"Features of each generated transaction."`
	Requests  int               `default:"50" help:"Number of rounds; a round is over when all its requests are verified."`
	Together  int               `default:"1" help:"Requests submitted at once in a round."`
	Targets   int               `default:"1" help:"Transactions of each request."`
	Customers bool              `help:"Each request erases a customer: so many transactions over all timesteps."`
	Mixed     []string          `placeholder:"SCOPE,…" help:"Erase now a transaction, now a customer, at these scopes."`
	Age       int               `default:"-1" help:"Erase from the timestep that is so many before the newest; -1: any."`
	Scope     string            `default:"${scope}" enum:"${scopes}" help:"Scope of the requests: ${enum}."`
	Seed      uint64            `default:"1" help:"Chooses the transactions."`
	Plan      bool              `help:"Ask for a plan before each round, and compare it with what the round took."`
	Anew      bool              `default:"true" negatable:"" help:"Train every checkpoint anew at the end and compare."`
	Profile   string            `placeholder:"FILE" help:"Write a CPU profile of the requests."`
	DataDir   string            `placeholder:"DIR" help:"Data directory, which is kept; a temporary one without it."`
	Fed       bool              `help:"The data directory holds the data already; choose another seed than before."`
	Rows      string            `placeholder:"FILE" help:"Append what was measured, a line of JSON for each round."`
	Set       map[string]string `placeholder:"KEY=VALUE" help:"Set a key of the configuration."`
}

// Run measures and prints.
func (c *runCmd) Run(ctx context.Context) error {
	config, remove, err := c.config()
	if err != nil {
		return err
	}
	defer remove()
	d, err := open(ctx, config)
	if err != nil {
		return err
	}
	rows, err := c.measure(ctx, d)
	if err != nil {
		return err
	}
	if c.Anew && len(rows) > 0 {
		anew, err := trainAnew(ctx, config)
		if err != nil {
			return err
		}
		for i := range rows {
			rows[i].Anew = anew.Seconds()
		}
	}
	if c.Rows != "" {
		if err := appendRows(c.Rows, rows); err != nil {
			return err
		}
	}
	if err := writeTables(os.Stdout, rows); err != nil {
		return err
	}
	return writeEstimates(os.Stdout, rows)
}

// stream reads or generates the data.
func (c *runCmd) stream(ctx context.Context) (*dataset.Stream, error) {
	if c.Dataset == "" {
		o := dataset.GenerateDefaults()
		o.Steps, o.NodesPerStep, o.Features = c.Steps, c.Nodes, c.Features
		return dataset.Generate(o)
	}
	// A copy of Elliptic with fewer columns is not the published one.
	return dataset.ReadElliptic(ctx, os.DirFS(c.Dataset), dataset.EllipticOptions{
		Name: nameOf(c.Dataset), Lenient: true,
	})
}

// config is the default one but for ports, folder and what is set.
func (c *runCmd) config() (config configs.Config, remove func(), err error) {
	dir, remove := c.DataDir, func() {}
	if dir == "" {
		if dir, err = os.MkdirTemp("", "lethe-erasure-"); err != nil {
			return config, nil, err
		}
		remove = func() { _ = os.RemoveAll(dir) }
	}
	set := map[string]any{"data_dir": dir, "http.address": "127.0.0.1:0", "embedded.port": 0}
	for key, value := range c.Set {
		set[key] = value
	}
	config, err = configs.Load(configs.LoadOptions{Overrides: set})
	return config, remove, err
}

// requests makes those of a round, and tells what the last of them asks for.
func (c *runCmd) requests(round int, next func() drawn) (list []lethe.ErasureRequest, last drawn) {
	list = make([]lethe.ErasureRequest, c.Together)
	for i := range list {
		last = next()
		list[i] = lethe.ErasureRequest{
			RequestID: fmt.Sprintf("benchmark-%d-%d-%d-%d", c.Seed, time.Now().Unix(), round, i),
			Scope:     lethe.Scope(last.scope), Targets: last.targets,
		}
	}
	return list, last
}
