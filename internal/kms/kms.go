// Package kms seals and unseals keys with a key management system, so that the files that hold them are useless
// without it.
//
// A Keeper is called once for each key when a process starts. The unsealed keys stay in memory: HMACs are computed
// by the million, and a deployment must continue while its Keeper is unavailable. The only Keeper is Vault: the
// transit engine of HashiCorp Vault and OpenBao, over its HTTP API.
package kms

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"lethe/internal/check"
)

var (
	// ErrAway means that the keeper does not answer, or cannot at the moment: retry later.
	ErrAway = errors.New("the key management system is away")
	// ErrRefused means that the keeper rejects the request; its text names what the operator must
	// fix. Retrying does not help.
	ErrRefused = errors.New("the key management system refuses")
)

// Keeper seals small secrets so that only its authorized clients can read them.
type Keeper interface {
	// Seal returns a sealed text; no two calls return the same.
	Seal(ctx context.Context, plain []byte) (sealed string, err error)
	// Unseal returns the sealed bytes. Errors: ErrAway, ErrRefused.
	Unseal(ctx context.Context, sealed string) (plain []byte, err error)
	// String names the keeper and its key, without secrets.
	String() string
}

// IsSealed reports whether a file's content was sealed by a Keeper.
func IsSealed(content []byte) bool { return strings.HasPrefix(string(content), vaultPrefix) }

// Config selects the keeper that unseals the keys.
type Config struct {
	// Address is the address of Vault, such as https://vault:8200. If empty, key files are not
	// sealed.
	Address string `yaml:"address" help:"Vault that unseals the keys, such as https://vault:8200; empty: none."`
	// Mount is the path of the transit engine, Key the name of its key.
	Mount string `yaml:"mount" help:"Where Vault's transit engine is mounted."`
	Key   string `yaml:"key" help:"Name of the transit key that seals the keys."`
	// TokenFile holds the token; the program that writes it must renew it.
	TokenFile string `yaml:"token_file" help:"File with Vault's token, read anew for each request."`
	// CAFile holds the root certificates for Vault's certificate, in PEM.
	CAFile string `yaml:"ca_file" help:"Certificates (PEM) that sign Vault's; empty: those of the system."`
	// Namespace is Vault's namespace, if it has several.
	Namespace string `yaml:"namespace" help:"Vault's namespace, if it has several."`
}

// Defaults returns a configuration without a keeper.
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
		"https://host:port, or http:// of this machine: an attacker in between would have the token and the keys")
	p.That(isPath(c.Mount), "mount", c.Mount, "the path of a transit engine")
	p.That(isPath(c.Key) && !strings.Contains(c.Key, "/"), "key", c.Key, "the name of a transit key")
	p.That(c.TokenFile != "", "token_file", c.TokenFile, "the file of a token")
	return p.Err()
}

func isPath(text string) bool {
	return text != "" && strings.Trim(text, "/") == text && !strings.ContainsAny(text, " ?#%") &&
		!strings.Contains(text, "..")
}

// Open returns the keeper of a configuration, or nil without one. It sends no request.
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
