package main

import (
	"crypto/ed25519"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"os"
	"strings"

	"lethe/deletions/receipt"
	"lethe/internal/command"
)

type receiptCmd struct {
	Verify receiptVerifyCmd `cmd:"" help:"Check a receipt's signature and consistency."`
}

// Help shows an example.
func (receiptCmd) Help() string {
	return "Example:\n  lethe receipt verify receipts/gdpr-17.json"
}

type receiptVerifyCmd struct {
	File      string `arg:"" help:"The receipt." type:"path"`
	PublicKey string `help:"PEM file of the key that must have signed it." type:"path" placeholder:"FILE"`
	JSON      bool   `help:"Print one JSON document."`
}

// Help shows an example.
func (receiptVerifyCmd) Help() string {
	return `Example:
  lethe receipt verify receipts/gdpr-17.json --public-key keys/receipt-ed25519.pub.pem

It needs no service and no network. Without --public-key it checks against the
key inside the receipt, which shows that nothing was changed but not who signed.`
}

var errInvalidReceipt = errors.New("the receipt is not valid")

// Run checks a receipt.
func (c *receiptVerifyCmd) Run(a *command.App) error {
	data, err := os.ReadFile(c.File)
	if err != nil {
		return fmt.Errorf("receipt: %w (name the file; lethe keeps receipts in the folder receipts of its data directory)",
			err)
	}
	var trusted ed25519.PublicKey
	if c.PublicKey != "" {
		if trusted, err = readPublicKey(c.PublicKey); err != nil {
			return fmt.Errorf("--public-key: %w", err)
		}
	}
	receipt, verification, err := receipt.Verify(data, trusted)
	if err != nil {
		verification.Problems = append(verification.Problems, err.Error())
	}
	valid := err == nil && verification.Valid
	if c.JSON {
		out := map[string]any{"valid": valid, "key_id": verification.KeyID, "trusted_key": verification.TrustedKey,
			"problems": verification.Problems}
		if valid {
			out["receipt"] = receipt
		}
		if err := a.PrintJSON(out); err != nil {
			return err
		}
	}
	if !valid {
		return fmt.Errorf("%w: %s", errInvalidReceipt, strings.Join(verification.Problems, "; "))
	}
	if !c.JSON {
		printReceipt(a, receipt, verification)
	}
	return nil
}

// printReceipt tells a person what a valid receipt states.
func printReceipt(a *command.App, r receipt.Receipt, v receipt.Verification) {
	key := "trusted key"
	if !v.TrustedKey {
		key = "the key inside the receipt; give --public-key to check who signed"
	}
	fmt.Fprintf(a.Stdout, "valid: request %s, %s at %s, signed with %s (%s)\n",
		r.RequestID, r.State, r.VerifiedAt.Format("2006-01-02 15:04:05 MST"), v.KeyID, key)
	fmt.Fprintf(a.Stdout, "scope %s: %d transactions, %d slices replaced, %d shards retrained\n",
		r.Scope, len(r.Targets), len(r.SlicesReplaced), len(r.ShardsRetrained))
	if refitted := refittedText(r.GroupsRefitted); refitted != "" {
		fmt.Fprintf(a.Stdout, "groups refitted: %s\n", refitted)
	}
	if took := elapsedText(r.Elapsed); took != "" {
		fmt.Fprintf(a.Stdout, "after it was received: %s\n", took)
	}
	fmt.Fprintf(a.Stdout, "searched %d files and %d records, %d hits; kernels %s, lethe %s\n",
		r.Scan.Files, r.Scan.Records, r.Scan.Hits, r.KernelSet, r.SoftwareVersion)
	for _, row := range r.Artefacts {
		fmt.Fprintf(a.Stdout, "  %-20s %-16s found %d, remaining %d (%s)\n", row.Artefact, row.Action, row.Found,
			row.Remaining, row.Location)
	}
	fmt.Fprintln(a.Stdout, "what may remain:")
	for _, text := range r.MayRemain {
		fmt.Fprintln(a.Stdout, "  -", text)
	}
}

func readPublicKey(path string) (ed25519.PublicKey, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	block, _ := pem.Decode(data)
	if block == nil {
		return nil, fmt.Errorf("%s is not a PEM file", path)
	}
	if block.Type != "PUBLIC KEY" {
		return nil, fmt.Errorf("%s holds a %s, want the PUBLIC KEY that belongs to it", path, block.Type)
	}
	key, err := x509.ParsePKIXPublicKey(block.Bytes)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	public, ok := key.(ed25519.PublicKey)
	if !ok {
		return nil, fmt.Errorf("%s holds no Ed25519 key", path)
	}
	return public, nil
}
