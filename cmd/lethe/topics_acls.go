package main

import (
	"errors"
	"fmt"

	"lethe/ingest/bus"
	"lethe/internal/command"
)

type topicsACLsCmd struct {
	topicFlags
	Apply      bool   `help:"Create the ACLs; existing ones stay."`
	Producer   string `help:"Principal that publishes transactions, payments and labels." default:"User:producer"`
	Compliance string `help:"Principal that requests erasures." default:"User:compliance"`
	Lethe      string `help:"Principal of the service." default:"User:lethe"`
	Reader     string `help:"Principal that reads predictions." default:"User:reader"`
}

// Help shows an example.
func (topicsACLsCmd) Help() string {
	return `Example:
  lethe topics acls
  lethe topics acls --brokers kafka-1:9092 --config admin.yaml --apply

Without --apply it contacts no broker. If lethe topics apply has created the topics, lethe itself
needs no right to create or alter anything.`
}

// Run prints the rights, and creates them on request.
func (c *topicsACLsCmd) Run(a *command.App) (err error) {
	who := bus.Principals{Producer: c.Producer, Compliance: c.Compliance, Lethe: c.Lethe, Reader: c.Reader}
	if err := who.Check(); err != nil {
		return command.Usage(err)
	}
	client, err := c.client(a)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, client.Close()) }()
	rights := client.Admin().Rights(who)
	if c.Apply {
		if err := client.Admin().Grant(a.Context, rights); err != nil {
			return err
		}
	}
	if c.JSON {
		return a.PrintJSON(map[string]any{"acls": rights, "applied": c.Apply})
	}
	for _, right := range rights {
		fmt.Fprintln(a.Stdout, right)
	}
	if c.Apply {
		fmt.Fprintf(a.Stdout, "%d ACLs are there\n", len(rights))
	}
	return nil
}

// client connects to the brokers only if ACLs have to be created.
func (c *topicsACLsCmd) client(a *command.App) (*bus.Client, error) {
	if c.Apply {
		return c.open(a)
	}
	config, err := c.Load(a, nil)
	if err != nil {
		return nil, err
	}
	return bus.Open(named(config).Kafka)
}
