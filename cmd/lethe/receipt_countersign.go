package main

import (
	"cmp"
	"fmt"

	"lethe/configs"
	"lethe/deletions/receipt"
	"lethe/internal/atomicfile"
	"lethe/internal/command"
)

type receiptCountersignCmd struct {
	File string `arg:"" help:"Receipt file." type:"path"`
	trustFlags
	Key string `help:"Private key to sign with (Ed25519, PKCS #8 in PEM)." type:"path" placeholder:"FILE" required:""`
	Out string `help:"File to write the receipt to; by default it replaces the original." type:"path" placeholder:"FILE"`
}

// Help shows an example.
func (receiptCountersignCmd) Help() string {
	return `Example:
  openssl genpkey -algorithm ed25519 -out auditor.pem
  lethe receipt countersign gdpr-17.json --key auditor.pem --public-key receipt-ed25519.pub.pem

The receipt is verified as by lethe receipt verify before it is signed.`
}

// Run adds a signature.
func (c *receiptCountersignCmd) Run(a *command.App) error {
	key, err := configs.ReadSigningKey(c.Key)
	if err != nil {
		return fmt.Errorf("--key: %w", err)
	}
	data, found, err := c.read(a, c.File)
	if err != nil {
		return err
	}
	if !found.Valid {
		return invalid(found.Verification)
	}
	document, err := receipt.Decode(data)
	if err != nil {
		return fmt.Errorf("%w (only receipts of this version can be countersigned)", err)
	}
	if err := document.Countersign(key); err != nil {
		return err
	}
	signed, err := document.Encode()
	if err != nil {
		return err
	}
	path := cmp.Or(c.Out, c.File)
	if err := atomicfile.Write(path, signed, 0o644); err != nil {
		return fmt.Errorf("receipt: %w", err)
	}
	fmt.Fprintf(a.Stdout, "signed by %d keys: %s\n", len(document.Signatures), path)
	return nil
}
