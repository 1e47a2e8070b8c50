package main

import (
	"fmt"

	"lethe"
	"lethe/configs"
	"lethe/internal/command"
	"lethe/metrics/events"
)

type traceCmd struct {
	command.ConfigFlags
	Request     string `help:"Trace of this erasure request." placeholder:"ID" xor:"what" required:""`
	Transaction string `help:"Trace of this transaction." placeholder:"ID" xor:"what" required:""`
	Timestep    *int   `help:"Trace of this timestep." placeholder:"N" xor:"what" required:""`
}

// Help shows an example.
func (traceCmd) Help() string {
	return `Example:
  lethe trace --data-dir lethe-data --request gdpr-17

Prints the name under which an OpenTelemetry backend has the trace. Traces carry no ids: their names are keyed
hashes, for which the deployment's secret is needed. Of transactions only the share traces.transactions has one.`
}

// Run prints the name of the trace.
func (c *traceCmd) Run(a *command.App) error {
	config, err := c.Load(a, nil)
	if err != nil {
		return err
	}
	secret, err := configs.KeysOf(config).Secret(a.Context)
	if err != nil {
		return err
	}
	var t events.Trace
	switch {
	case c.Request != "":
		t = events.TraceOfErasure(secret, c.Request)
	case c.Transaction != "":
		p := secret.Pseudonym(lethe.TransactionID(c.Transaction))
		var followed bool
		if t, followed = events.NewSampler(secret, config.Traces.Transactions).Trace(p); !followed {
			return fmt.Errorf("this transaction has no trace: it is not among the %g that traces.transactions chooses",
				config.Traces.Transactions)
		}
	case *c.Timestep < 0:
		return command.Usagef("--timestep %d, want 0 or more", *c.Timestep)
	default:
		t = events.TraceOfTimestep(secret, lethe.Timestep(*c.Timestep))
	}
	fmt.Fprintln(a.Stdout, t)
	return nil
}
