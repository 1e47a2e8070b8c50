// Package kms has keys sealed and unsealed by a key management system, so that the files that hold them
// are of no use without it.
//
// A Keeper is asked once for each key when a process starts. What it unseals stays in memory: HMACs are
// made by the million, and a deployment goes on while its Keeper is away. Vault is the one that there
// is: the transit engine of HashiCorp Vault, and of OpenBao, over its HTTP API.
package kms

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"lethe/internal/check"
)

var (
	// ErrAway says that the keeper does not answer, or cannot now: ask again later.
	ErrAway = errors.New("the key management system is away")
	// ErrRefused says that the keeper will not do it: its text names what the operator has to put
	// right. To ask again as it is does not help.
	ErrRefused = errors.New("the key management system refuses")
)

// Keeper seals small secrets so that only who may ask it can read them.
type Keeper interface {
	// Seal returns a text that stands for some bytes; no two calls return the same.
	Seal(ctx context.Context, plain []byte) (sealed string, err error)
	// Unseal returns what was sealed. Errors: ErrAway, ErrRefused.
	Unseal(ctx context.Context, sealed string) (plain []byte, err error)
	// String names the keeper and its key, without secrets.
	String() string
}

// IsSealed reports whether a file's content is what a Keeper has sealed.
func IsSealed(content []byte) bool { return strings.HasPrefix(string(content), vaultPrefix) }

// Config says which keeper unseals the keys.
type Config struct {
	// Address is that of Vault, such as https://vault:8200. Without one keys lie in their files as
	// they are.
	Address string `yaml:"address" help:"Vault that unseals the keys, such as https://vault:8200; empty: none."`
	// Mount is where the transit engine is, Key the name of its key.
	Mount string `yaml:"mount" help:"Where Vault's transit engine is mounted."`
	Key   string `yaml:"key" help:"Name of the transit key that seals the keys."`
	// TokenFile holds the token, which whoever writes it keeps fresh.
	TokenFile string `yaml:"token_file" help:"File with Vault's token, read anew for each request."`
	// CAFile has the certificates that Vault's must follow from, in PEM.
	CAFile string `yaml:"ca_file" help:"Certificates (PEM) that sign Vault's; empty: those of the system."`
	// Namespace is Vault's, where it has several.
	Namespace string `yaml:"namespace" help:"Vault's namespace, if it has several."`
}

// Defaults are without a keeper.
func Defaults() Config { return Config{Mount: "transit", Key: "lethe"} }

// Validate reports every problem at once.
func (c Config) Validate() error {
	var p check.Problems
	if c.Address == "" {
		p.That(c.TokenFile == "", "token_file", c.TokenFile, "nothing without address")
		return p.Err()
	}
	_, whole := check.WebAddress(c.Address, "https")
	if host, open := check.WebAddress(c.Address, "http"); open {
		whole = check.IsLoopback(host)
	}
	p.That(whole, "address", c.Address,
		"https://host:port, or http:// of this machine: whoever is between would have the token and the keys")
	p.That(isPath(c.Mount), "mount", c.Mount, "the path of a transit engine")
	p.That(isPath(c.Key) && !strings.Contains(c.Key, "/"), "key", c.Key, "the name of a transit key")
	p.That(c.TokenFile != "", "token_file", c.TokenFile, "the file of a token")
	return p.Err()
}

func isPath(text string) bool {
	return text != "" && strings.Trim(text, "/") == text && !strings.ContainsAny(text, " ?#%") &&
		!strings.Contains(text, "..")
}

// Open returns the keeper of a configuration, nil without one. It asks nobody.
func (c Config) Open() (Keeper, error) {
	if c.Address == "" {
		return nil, nil
	}
	v, err := newVault(c)
	if err != nil {
		return nil, fmt.Errorf("kms: %w", err)
	}
	return v, nil
}
