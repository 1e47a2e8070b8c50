package main

import (
	"context"
	"errors"
	"fmt"
	"math"

	"lethe/configs"
	"lethe/ingest/bus"
	"lethe/internal/command"
	"lethe/service"
)

// brokerFlags say which brokers a client command talks to.
type brokerFlags struct {
	Brokers     []string `help:"Kafka brokers, host:port." default:"${own_broker}" placeholder:"A,B"`
	TopicPrefix string   `help:"What stands before every topic's name." default:"${topic_prefix}"`
}

// open reaches the brokers.
func (f brokerFlags) open(ctx context.Context) (*bus.Client, error) {
	c := configs.Default()
	c.Kafka.Brokers, c.Kafka.TopicPrefix = f.Brokers, f.TopicPrefix
	if err := c.Validate(); err != nil {
		return nil, command.Usage(err)
	}
	return reach(ctx, c)
}

// reach opens a client of the configuration's brokers and asks whether they are
// there.
func reach(ctx context.Context, c configs.Config) (*bus.Client, error) {
	client, err := bus.Open(c.Kafka)
	if err != nil {
		return nil, command.Usage(err)
	}
	if err := client.Ping(ctx); err != nil {
		return nil, fmt.Errorf("%w (start lethe run, or name brokers that are up with --brokers)",
			errors.Join(err, client.Close()))
	}
	return client, nil
}

type replayCmd struct {
	brokerFlags
	Dataset string  `help:"Folder with Elliptic's three CSV files." required:"" type:"path" placeholder:"DIR"`
	Rate    float64 `help:"Records per second at most; 0 for no bound." placeholder:"R"`
	Steps   string  `help:"Timesteps to publish, as in 1-30; all by default." placeholder:"A-B"`
	JSON    bool    `help:"Print one JSON document."`
}

// Help shows an example.
func (replayCmd) Help() string {
	return `Example:
  lethe generate --out stream && lethe replay --dataset stream --rate 500

Per timestep it publishes transactions and payments, a close record, labels and
a settle record. Publishing a dataset twice is harmless.`
}

// Run publishes the dataset.
func (c *replayCmd) Run(a *command.App) error {
	if !(c.Rate >= 0 && c.Rate <= math.MaxInt32) {
		return command.Usagef("--rate is %g, must be 0 to %d", c.Rate, math.MaxInt32)
	}
	stream, err := command.LoadStream(a.Context, c.Dataset, c.Steps)
	if err != nil {
		return err
	}
	client, err := c.open(a.Context)
	if err != nil {
		return err
	}
	defer client.Close()
	p := command.NewProgress(a.Stderr)
	written, err := service.Replay(a.Context, client, stream, service.ReplayOptions{
		RatePerSecond: c.Rate,
		Progress: func(at service.ReplayProgress) {
			p.Show("timestep %d (%d of %d), %d records", at.Timestep, at.Done, at.Of, at.RecordsWritten)
		},
	})
	if err != nil {
		return err
	}
	p.Done("published %d timesteps, %d records", len(stream.Steps), written)
	if c.JSON {
		return a.PrintJSON(map[string]any{"dataset": stream.Name, "timesteps": len(stream.Steps), "records": written})
	}
	return nil
}
