package main

import (
	"fmt"

	"lethe/configs"
	"lethe/internal/command"
)

type keysSealCmd struct {
	command.ConfigFlags
	JSON bool `help:"Print one JSON document."`
}

// Help shows an example.
func (keysSealCmd) Help() string {
	return `Example:
  lethe keys seal --data-dir lethe-data --set kms.address=https://vault:8200 --set kms.token_file=/run/vault-token

Vault's transit engine (kms.mount, kms.key) seals the secret and the key that signs receipts. Their
files are replaced by sealed ones, which are useless without Vault. At its start lethe run has Vault
unseal them and keeps them in memory; if Vault is unavailable, it waits. A file is replaced only
after its sealed form was unsealed successfully, and sealed files are left alone. Find and destroy
other copies of the plain files yourself.`
}

// Run seals the keys.
func (c *keysSealCmd) Run(a *command.App) error {
	return changeKeys(a, c.ConfigFlags, c.JSON, "sealed", func(s configs.Keystore, path string) (bool, error) {
		return s.SealFile(a.Context, path)
	})
}

type keysUnsealCmd struct {
	command.ConfigFlags
	JSON bool `help:"Print one JSON document."`
}

// Help shows an example.
func (keysUnsealCmd) Help() string {
	return `Example:
  lethe keys unseal --data-dir lethe-data --config lethe.yaml

The files are then plain and readable by their owner only. Remove the settings of section kms afterwards.`
}

// Run unseals the keys.
func (c *keysUnsealCmd) Run(a *command.App) error {
	return changeKeys(a, c.ConfigFlags, c.JSON, "unsealed", func(s configs.Keystore, path string) (bool, error) {
		return s.UnsealFile(a.Context, path)
	})
}

// changeKeys changes every key file of a configuration that is not yet in the requested form.
func changeKeys(
	a *command.App, flags command.ConfigFlags, asJSON bool, what string,
	change func(s configs.Keystore, path string) (bool, error),
) error {
	config, err := flags.Load(a, nil)
	if err != nil {
		return err
	}
	if config.KMS.Address == "" {
		return command.Usagef("kms.address is not set: name the Vault that seals the keys")
	}
	store, err := configs.KeysOf(config).Store()
	if err != nil {
		return err
	}
	files, err := configs.KeysOf(config).Files()
	if err != nil {
		return err
	}
	if len(files) == 0 {
		return fmt.Errorf("%s has no keys yet: lethe run makes them, and seals them at once where kms.address is set",
			config.DataDir)
	}
	changed := []string{}
	for _, path := range files {
		did, err := change(store, path)
		if err != nil {
			return err
		}
		if did {
			changed = append(changed, path)
		}
		if did && !asJSON {
			fmt.Fprintf(a.Stdout, "%s: %s by %s\n", path, what, store)
		} else if !asJSON {
			fmt.Fprintf(a.Stdout, "%s: is %s\n", path, what)
		}
	}
	if asJSON {
		return a.PrintJSON(map[string]any{what: changed, "keeper": store.String()})
	}
	return nil
}
