package main

import (
	"math"
	"slices"

	"lethe/ingest"
	"lethe/ingest/bus"
	"lethe/internal/command"
	"lethe/service"
)

type replayCmd struct {
	brokerFlags
	Dataset string  `help:"Folder with Elliptic's three CSV files." required:"" type:"path" placeholder:"DIR"`
	Rate    float64 `help:"Most records per second; 0: no limit." placeholder:"R"`
	Steps   string  `help:"Timesteps to publish, as in 1-30; all by default." placeholder:"A-B"`
	Format  string  `help:"Format of transactions and payments: ${enum}." enum:"json, protobuf" default:"json"`
	// SchemaID may be any number without a registry.
	SchemaID uint32 `help:"Id of the schema in the registry, for protobuf." name:"schema-id" default:"1"`
	registryFlags
	Sign string `help:"Private key of a producer, to sign close and settle records." type:"path" placeholder:"FILE"`
	JSON bool   `help:"Print one JSON document."`
}

// Help shows an example.
func (replayCmd) Help() string {
	return `Example:
  lethe generate --out stream && lethe replay --dataset stream --rate 500

The files are read as a whole first: a row that lethe would reject is named with its file, row and
column, and nothing is published. For each timestep it publishes transactions and payments, a close
record, labels and a settle record. Publishing a dataset twice is harmless.`
}

// Run publishes the dataset.
func (c *replayCmd) Run(a *command.App) error {
	if !(c.Rate >= 0 && c.Rate <= math.MaxInt32) {
		return command.Usagef("--rate is %g, must be 0 to %d", c.Rate, math.MaxInt32)
	}
	if c.Registry != "" && c.Format == "json" {
		return command.Usagef("--registry is for --format protobuf")
	}
	if _, err := ingest.ParseEncoding(c.Format, 0); err != nil {
		return command.Usage(err)
	}
	keys, err := signingKeys(slices.DeleteFunc([]string{c.Sign}, func(path string) bool { return path == "" }))
	if err != nil {
		return err
	}
	config, err := c.config(a)
	if err != nil {
		return err
	}
	stream, err := command.LoadStream(a, c.Dataset, c.Steps, config)
	if err != nil {
		return err
	}
	client, err := c.open(a)
	if err != nil {
		return err
	}
	defer client.Close()
	if c.Registry != "" {
		if c.SchemaID, err = c.register(a, client.Name(bus.Transactions)); err != nil {
			return err
		}
	}
	encoding, err := ingest.ParseEncoding(c.Format, c.SchemaID)
	if err != nil {
		return err
	}
	p := command.NewProgress(a.Stderr)
	written, err := service.Replay(a.Context, client, stream, service.ReplayOptions{
		RatePerSecond: c.Rate, Encoding: encoding, Sign: keys,
		Progress: func(at service.ReplayProgress) {
			p.Show("timestep %d (%d of %d), %d records", at.Timestep, at.Done, at.Of, at.RecordsWritten)
		},
	})
	if err != nil {
		return err
	}
	p.Done("published %d timesteps, %d records; lethe status says how many are rejected", len(stream.Steps), written)
	if c.JSON {
		return a.PrintJSON(map[string]any{
			"dataset": stream.Name, "timesteps": len(stream.Steps), "records": written, "repeated_rows": stream.Repeated,
		})
	}
	return nil
}
