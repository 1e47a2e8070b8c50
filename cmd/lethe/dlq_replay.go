package main

import (
	"fmt"
	"os"
	"time"

	"lethe/configs"
	"lethe/ingest/bus"
	"lethe/internal/command"
	"lethe/pipeline/deadletters"
	"lethe/pipeline/wire"
)

type dlqShowCmd struct {
	brokerFlags
	Place  string `arg:"" help:"Place of the dead letter, as lethe dlq list prints it."`
	Reveal bool   `help:"Print key, headers and value unchanged: they may be personal data."`
	JSON   bool   `help:"Print one JSON document."`
}

// Help shows an example.
func (dlqShowCmd) Help() string {
	return `Example:
  lethe dlq show transactions.v1/3/1207

It prints the fields of the record with their types, and with --reveal the record itself.`
}

// letterShown is a dead letter in full.
type letterShown struct {
	letterRow
	Version string            `json:"version"`
	Cut     string            `json:"cut,omitempty"`
	Form    string            `json:"form"`
	Key     *string           `json:"key,omitempty"`
	Value   *string           `json:"value,omitempty"`
	Headers map[string]string `json:"headers,omitempty"`
}

// Run shows one dead letter.
func (c *dlqShowCmd) Run(a *command.App) error {
	client, err := c.open(a)
	if err != nil {
		return err
	}
	defer client.Close()
	found, err := deadletters.List(a.Context, client, deadletters.Filter{Places: []string{c.Place}})
	if err != nil {
		return err
	}
	l := found[0]
	shown := letterShown{
		letterRow: rowOf(l), Version: l.Version, Cut: l.Cut, Form: deadletters.Redacted(l.Record.Value),
	}
	if c.Reveal {
		key, value := string(l.Record.Key), string(l.Record.Value)
		shown.Key, shown.Value, shown.Headers = &key, &value, make(map[string]string)
		for _, h := range l.Record.Headers {
			shown.Headers[h.Key] = string(h.Value)
		}
	}
	if c.JSON {
		return a.PrintJSON(shown)
	}
	fmt.Fprintf(a.Stdout, "%s\n  refused: %s (%s) by lethe %s\n  what now: %s\n", shown.Place, shown.Reason,
		shown.Detail, shown.Version, whatNow(shown.letterRow))
	if shown.Cut != "" {
		fmt.Fprintf(a.Stdout, "  not kept whole: %s\n", shown.Cut)
	}
	if !c.Reveal {
		fmt.Fprintf(a.Stdout, "%s\n", shown.Form)
		return nil
	}
	fmt.Fprintf(a.Stdout, "  key: %s\n", *shown.Key)
	for _, h := range l.Record.Headers {
		fmt.Fprintf(a.Stdout, "  header %s: %s\n", h.Key, h.Value)
	}
	fmt.Fprintf(a.Stdout, "%s\n", *shown.Value)
	return nil
}

type dlqReplayCmd struct {
	brokerFlags
	Place []string `arg:"" optional:"" help:"Places of dead letters, as lethe dlq list prints them."`
	dlqFilter
	All    bool `help:"Send all dead letters that can be sent again."`
	Again  bool `help:"Include records that were sent again before."`
	Anyway bool `help:"Send also what would be rejected again as far as can be known."`
	DryRun bool `help:"Only print what would be sent."`
	JSON   bool `help:"Print one JSON document."`
}

// Help shows an example.
func (dlqReplayCmd) Help() string {
	return `Example:
  lethe dlq replay transactions.v1/3/1207
  lethe dlq replay --reason late --since 24h --dry-run

If the record is accepted, its dead letter disappears; if it is rejected again, there is a new one.
Before, each record is checked with the configuration (--config, --set) and with what the topics
hold: what would be rejected again is not sent, its place and the reason are printed, and the exit
status is 1. Sending a record twice is harmless, and records of erased transactions are dropped. Dead letters
that are stored in part or without content cannot be sent again. Those that wait for a transaction
need not be. The console shows that records were sent again if the deployment's secret is here, in
the data directory or secret_file.`
}

// sealMarks adds the deployment's code to marks if its secret is here. Without it the records are published too,
// and the marks are recognized only by this command.
func sealMarks(a *command.App, config configs.Config, client *bus.Client) error {
	if _, err := os.Stat(config.SecretPath()); err != nil {
		return nil //nolint:nilerr // the secret is not on this machine
	}
	secret, err := configs.KeysOf(config).Secret(a.Context)
	if err == nil {
		wire.SealOf(secret, nil).On(client)
	}
	return err
}

// unsent is a dead letter that was not replayed.
type unsent struct {
	Place string `json:"place"`
	Why   string `json:"why"`
}

// Run replays records.
func (c *dlqReplayCmd) Run(a *command.App) error {
	f, err := c.filter(time.Now())
	if err != nil {
		return err
	}
	if len(c.Place)+len(c.Reason)+len(c.Topic) == 0 && c.Since == 0 && !c.All {
		return command.Usagef("name dead letters, choose some with --reason, --topic or --since, or take --all")
	}
	f.Places, f.Open = c.Place, !c.Again
	config, err := c.config(a)
	if err != nil {
		return err
	}
	client, err := c.open(a)
	if err != nil {
		return err
	}
	defer client.Close()
	letters, err := deadletters.List(a.Context, client, f)
	if err != nil {
		return err
	}
	chosen := len(letters)
	var again []deadletters.Refused
	if !c.Anyway {
		in := config.Ingest
		rules := deadletters.Rules{Limits: in.Limits(), First: in.FirstTimestep, Jump: in.MaxTimestepJump}
		if letters, again, err = rules.Part(a.Context, client, letters); err != nil {
			return err
		}
	}
	if err := sealMarks(a, config, client); err != nil {
		return err
	}
	at := time.Now()
	var sent int
	var refused []deadletters.Refused
	if c.DryRun {
		var ready []deadletters.Letter
		ready, refused = deadletters.Sendable(letters, at)
		sent = len(ready)
	} else if sent, refused, err = deadletters.Replay(a.Context, client, letters, at); err != nil {
		return fmt.Errorf("after %d of %d records: %w", sent, len(letters), err)
	}
	if err := c.print(a, sent, chosen, append(refused, again...)); err != nil {
		return err
	}
	if len(again) > 0 {
		return fmt.Errorf("%d of %d %w (see the reasons; --anyway sends them)", len(again), chosen,
			deadletters.ErrRejectedAgain)
	}
	return nil
}

// print reports how many records were replayed, and why others were not.
func (c *dlqReplayCmd) print(a *command.App, sent, of int, refused []deadletters.Refused) error {
	list := []unsent{}
	for _, r := range refused {
		list = append(list, unsent{r.Place(), r.Why.Error()})
	}
	if c.JSON {
		return a.PrintJSON(map[string]any{"dry_run": c.DryRun, "sent": sent, "not_sent": list})
	}
	for _, r := range list {
		fmt.Fprintf(a.Stdout, "%s: %s\n", r.Place, r.Why)
	}
	done := "sent again"
	if c.DryRun {
		done = "would be sent again"
	}
	fmt.Fprintf(a.Stdout, "%s: %d of %d\n", done, sent, of)
	return nil
}
