package main

import (
	"crypto/ed25519"
	"crypto/rand"
	"fmt"

	"lethe/configs"
	"lethe/deletions/receipt"
	"lethe/internal/command"
)

type logRotateKeyCmd struct {
	command.ConfigFlags
	JSON bool `help:"Print one JSON document."`
}

// Help shows an example.
func (logRotateKeyCmd) Help() string {
	return `Example:
  lethe log rotate-key --data-dir lethe-data

A new key signs receipts and the log from the next start of lethe run on. At that start the key
of before introduces it in the log, and is removed. The file of the public key has both then,
the new one first: hand it over again. What was signed before stays valid under it.`
}

// Run puts a new signing key in place.
func (c *logRotateKeyCmd) Run(a *command.App) error {
	config, err := c.Load(a, nil)
	if err != nil {
		return err
	}
	path := config.SigningKeyPath()
	store, err := configs.KeysOf(config).Store()
	if err != nil {
		return err
	}
	before, now, err := store.RotateSigningKey(a.Context, path, rand.Reader)
	if err != nil {
		return err
	}
	name := func(key ed25519.PrivateKey) string { return receipt.KeyID(key.Public().(ed25519.PublicKey)) }
	if c.JSON {
		return a.PrintJSON(map[string]string{
			"before": name(before), "now": name(now), "public_key": configs.PublicKeyPath(path),
		})
	}
	fmt.Fprintf(a.Stdout, "key %s follows %s: start lethe run again, which introduces it\npublic keys: %s\n", name(now),
		name(before), configs.PublicKeyPath(path))
	return nil
}
