package main

import (
	"crypto/ed25519"
	"crypto/rand"

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

From the next start of lethe run, the new key signs receipts and the log. At that start the previous
key introduces it in the log and is deleted. The file of the public key then contains both, the new
one first: distribute it again. Earlier signatures stay valid under the previous key.`
}

// Run installs a new signing key.
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
	return a.Print(c.JSON, map[string]string{
		"before": name(before), "now": name(now), "public_key": configs.PublicKeyPath(path),
	}, "key %s follows %s: start lethe run again, which introduces it\npublic keys: %s\n", name(now),
		name(before), configs.PublicKeyPath(path))
}
