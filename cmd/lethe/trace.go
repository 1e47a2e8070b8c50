package main

import (
	"fmt"

	"lethe"
	"lethe/configs"
	"lethe/internal/command"
	"lethe/internal/normalise"
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

Give one of --request, --transaction and --timestep. It prints the id under which an OpenTelemetry
backend has the trace. The id is a keyed hash, so the command needs the deployment's secret. Only
some transactions have a trace: the share traces.transactions.`
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
	id := normalise.Rule(config.Ingest.Records.Normalise).Name(c.Transaction)
	switch {
	case c.Request != "":
		t = events.TraceOfErasure(secret, c.Request)
	case c.Timestep == nil:
		if !lethe.ValidID(id) {
			return command.Usagef("--request and --transaction take an id: the one given is empty or no id")
		}
		p := secret.Pseudonym(lethe.TransactionID(id))
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
