package main

import (
	"fmt"

	"lethe/audit"
	"lethe/configs"
	"lethe/deletions/receipt"
	"lethe/internal/command"
)

type logKeysCmd struct {
	logFlags
	JSON bool `help:"Print one JSON document."`
}

// Help shows an example.
func (logKeysCmd) Help() string {
	return `Example:
  lethe log keys --log log.json --public-key the-key-I-know.pem > keys.pem
  lethe receipt verify gdpr-17.json --public-key keys.pem

Use it if you know one key of a deployment and must check a signature by another. The whole log is
verified, and the chain of its keys is followed: each key is introduced by the previous one, in a
leaf that only the previous key could sign. It prints the public keys, the current one first, in
the form that --public-key accepts. The log comes from a data directory, from log.v1 (--brokers) or
from a file (--log).`
}

// followed is a key of a log. The JSON names are part of the command line.
type followed struct {
	KeyID string `json:"key_id"`
	// From is the size of the log from which the key signs.
	From int64 `json:"from"`
}

// Run follows the keys of a log.
func (c *logKeysCmd) Run(a *command.App) error {
	o, err := c.options(a)
	if err != nil {
		return err
	}
	keys, report, err := audit.LogKeys(a.Context, o)
	if err != nil {
		return err
	}
	if !report.OK {
		return fmt.Errorf("%w: %w", errLogRefused, report.Refused.Err())
	}
	var list []followed
	for _, k := range keys {
		list = append(list, followed{receipt.KeyID(k.Key), k.From})
	}
	if c.JSON {
		return a.PrintJSON(map[string]any{"keys": list})
	}
	text, err := configs.FormatPublicKeys(audit.PublicKeys(keys)...)
	if err != nil {
		return err
	}
	if _, err := a.Stdout.Write(text); err != nil {
		return err
	}
	for i, k := range list {
		by := ""
		if i < len(list)-1 {
			by = ", introduced by the next"
		}
		fmt.Fprintf(a.Stderr, "lethe: key %s signs from leaf %d on%s\n", k.KeyID, k.From, by)
	}
	return nil
}
