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

The secret and the key that signs receipts are sealed by Vault's transit engine (kms.mount, kms.key), and their files
are replaced: without Vault they are of no use. lethe run has them unsealed when it starts, and keeps them in memory;
it waits for a Vault that is away. A file is replaced only once what was sealed could be unsealed. What is sealed
already is left. Copies of the open files are yours to find and destroy.`
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

The keys lie open in their files again, for their owner alone: take the settings under kms away then.`
}

// Run unseals the keys.
func (c *keysUnsealCmd) Run(a *command.App) error {
	return changeKeys(a, c.ConfigFlags, c.JSON, "unsealed", func(s configs.Keystore, path string) (bool, error) {
		return s.UnsealFile(a.Context, path)
	})
}

// changeKeys changes every key file of a configuration that is not as asked already.
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
