package main

import (
	"encoding/json"
	"errors"
	"fmt"

	"lethe/audit"
	"lethe/configs"
	"lethe/deletions/translog"
	"lethe/internal/atomicfile"
	"lethe/internal/command"
)

type logCmd struct {
	Verify     logVerifyCmd     `cmd:"" help:"Verify that no leaf of the transparency log was dropped or rewritten."`
	Show       logShowCmd       `cmd:"" help:"List the leaves of the transparency log."`
	Accesses   logAccessesCmd   `cmd:"" help:"List who changed something through the API, or viewed an erasure."`
	Checkpoint logCheckpointCmd `cmd:"" help:"Print the signed checkpoint, to store it elsewhere."`
	Keys       logKeysCmd       `cmd:"" help:"Verify the chain of signing keys from one that you know, and print it."`
	RotateKey  logRotateKeyCmd  `cmd:"" help:"Create a new signing key, which the previous one introduces."`
}

// Help shows an example.
func (logCmd) Help() string {
	return "Example:\n  lethe log checkpoint --data-dir lethe-data > kept-elsewhere.txt"
}

// logFlags select a log.
type logFlags struct {
	command.ConfigFlags
	PublicKey string `help:"PEM file of a current or former signing key of the log." type:"path" placeholder:"FILE"`
	Log       string `help:"File with the output of lethe log show --json." type:"path" placeholder:"FILE"`
}

// options selects the log: that of the data directory and its topic, or of the topic alone if
// brokers are given without a data directory.
func (f logFlags) options(a *command.App) (o audit.LogOptions, err error) {
	if o.Config, err = f.Load(a, nil); err != nil {
		return o, err
	}
	o.File, o.TopicOnly = f.Log, f.DataDir == "" && len(f.Brokers) > 0
	if f.PublicKey != "" {
		if o.Key, err = configs.ReadPublicKey(f.PublicKey); err != nil {
			return o, fmt.Errorf("--public-key: %w", err)
		}
	}
	switch {
	case o.Key != nil:
	case o.File != "":
		return o, command.Usage(errors.New("with --log, --public-key names the key that must have signed"))
	case o.TopicOnly:
		return o, command.Usage(errors.New(
			"with --brokers and no --data-dir, --public-key names the key that must have signed"))
	}
	return o, nil
}

// read reads the log, without checking it.
func (f logFlags) read(a *command.App) (log translog.Copy, config configs.Config, err error) {
	o, err := f.options(a)
	if err != nil {
		return log, config, err
	}
	log, err = audit.ReadLog(a.Context, o)
	return log, o.Config, err
}

type logVerifyCmd struct {
	logFlags
	Checkpoint string   `help:"Signed checkpoint that was stored elsewhere." type:"path" placeholder:"FILE"`
	Receipt    []string `help:"Receipt that must be in the log. Repeatable." type:"path" placeholder:"FILE"`
	JSON       bool     `help:"Print one JSON document."`
}

// Help shows an example.
func (logVerifyCmd) Help() string {
	return `Example:
  lethe log verify --data-dir lethe-data --checkpoint kept-elsewhere.txt --receipt lethe-data/receipts/gdpr-17.json

It computes the tree of all leaves and compares it with the signed checkpoint, the older checkpoint,
the ledger and log.v1. Stop lethe run on the directory first. With only --brokers and --public-key
it checks the topic.`
}

var errLogRefused = errors.New("the transparency log is refused")

// Run checks a log.
func (c *logVerifyCmd) Run(a *command.App) error {
	o, err := c.options(a)
	if err != nil {
		return err
	}
	if c.Checkpoint != "" {
		older, err := atomicfile.Read(c.Checkpoint, mostNoteBytes)
		if err != nil {
			return fmt.Errorf("--checkpoint: %w", err)
		}
		if len(older) == 0 { // not given, to the check
			return fmt.Errorf("--checkpoint: %s is empty: name a file with the output of lethe log checkpoint", c.Checkpoint)
		}
		o.Older = string(older)
	}
	o.Receipts = c.Receipt
	r, err := audit.CheckLog(a.Context, o)
	if err != nil {
		return err
	}
	if c.JSON {
		if err := a.PrintJSON(r); err != nil {
			return err
		}
	}
	if !r.OK {
		return fmt.Errorf("%w: %w", errLogRefused, r.Refused.Err())
	}
	if c.JSON {
		return nil
	}
	fmt.Fprintf(a.Stdout, "%s: %d leaves of %d requests, root %s\n", orNone(r.Origin), r.Size, r.Requests, orNone(r.Root))
	if c.Checkpoint != "" {
		fmt.Fprintf(a.Stdout, "it goes on from the older checkpoint of %d leaves\n", r.OlderSize)
	}
	if len(c.Receipt) > 0 {
		fmt.Fprintf(a.Stdout, "named receipts, all in it: %d\n", r.Receipts)
	}
	fmt.Fprintln(a.Stdout, "ok")
	return nil
}

type logShowCmd struct {
	logFlags
	JSON bool `help:"Print one JSON document."`
}

// Help shows an example.
func (logShowCmd) Help() string { return "Example:\n  lethe log show --data-dir lethe-data" }

// Run lists the leaves.
func (c *logShowCmd) Run(a *command.App) error {
	log, _, err := c.read(a)
	if err != nil {
		return err
	}
	if c.JSON {
		leaves := make([]json.RawMessage, len(log.Leaves))
		for i, text := range log.Leaves {
			leaves[i] = text
		}
		return a.PrintJSON(map[string]any{"leaves": leaves, "checkpoint": log.Checkpoint})
	}
	for i, text := range log.Leaves {
		fmt.Fprintf(a.Stdout, "%d %s\n", i, text)
	}
	return nil
}

type logCheckpointCmd struct{ logFlags }

// Help shows an example.
func (logCheckpointCmd) Help() string {
	return "Example:\n  lethe log checkpoint --data-dir lethe-data > kept-elsewhere.txt"
}

// Run prints the checkpoint.
func (c *logCheckpointCmd) Run(a *command.App) error {
	log, _, err := c.read(a)
	if err != nil {
		return err
	}
	if log.Checkpoint == "" {
		return errors.New("the log is empty: nothing is signed yet")
	}
	_, err = fmt.Fprint(a.Stdout, log.Checkpoint)
	return err
}
