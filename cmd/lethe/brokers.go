package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strconv"

	"lethe/configs"
	"lethe/ingest/bus"
	"lethe/internal/command"
)

// brokerFlags select the brokers of a client command. Defaults come from the configuration, as for the service.
type brokerFlags struct {
	Config      string            `help:"YAML configuration file." type:"path" placeholder:"FILE"`
	Brokers     []string          `help:"${kafka_brokers}" placeholder:"A,B"`
	TopicPrefix string            `help:"Prefix of every topic name; by default as configured." placeholder:"PREFIX"`
	Set         map[string]string `help:"${set_key}" placeholder:"KEY=VALUE"`
}

// config is the configuration with the flags applied.
func (f brokerFlags) config(a *command.App) (configs.Config, error) {
	extra := make(map[string]any)
	if f.TopicPrefix != "" {
		extra["kafka.topic_prefix"] = f.TopicPrefix
	}
	return command.ConfigFlags{Config: f.Config, Brokers: f.Brokers, Set: f.Set}.Load(a, extra)
}

// open connects to the brokers.
func (f brokerFlags) open(a *command.App) (*bus.Client, error) {
	config, err := f.config(a)
	if err != nil {
		return nil, err
	}
	config.Kafka.Around = reportGaps(a)
	return reach(a.Context, config)
}

// reportGaps reports the ranges of a topic that cannot be read. A command continues after them: the data it
// needs may be elsewhere, and the command may be needed for the repair.
func reportGaps(a *command.App) func(*bus.Gap) {
	return func(gap *bus.Gap) {
		fmt.Fprintf(a.Stderr, "%s/%d: offsets %d to %d cannot be read and are left out: %s\n",
			gap.Topic, gap.Partition, gap.From, gap.To-1, gap.Detail)
	}
}

// patiently returns a client of the same brokers that waits for unreachable ones: an erasure takes
// as long as they need for cleaning.
func patiently(client *bus.Client, p *command.Progress) (*bus.Client, error) {
	return bus.Patient(client, func(_ string, err error) {
		if err != nil && !errors.Is(err, bus.ErrAbandoned) {
			p.Show("waiting for brokers: %v", err)
		}
	})
}

// named is the configuration with the address of a local service if it names no brokers.
func named(c configs.Config) configs.Config {
	if c.UsesEmbeddedBroker() {
		c.Kafka.Brokers = []string{net.JoinHostPort("127.0.0.1", strconv.Itoa(c.Embedded.Port))}
	}
	return c
}

// reach opens a client of the configuration's brokers, or of a local service's embedded broker, and
// checks that they respond.
func reach(ctx context.Context, c configs.Config) (*bus.Client, error) {
	client, err := bus.Open(named(c).Kafka)
	if err != nil {
		return nil, command.Usage(err)
	}
	err = client.Ping(ctx)
	switch {
	case err == nil:
		return client, nil
	case errors.Is(err, bus.ErrRefused):
		return nil, errors.Join(err, client.Close())
	default:
		return nil, fmt.Errorf("%w (start lethe run, or name brokers that are up with --brokers)",
			errors.Join(err, client.Close()))
	}
}
