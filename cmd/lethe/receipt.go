package main

import (
	"errors"
	"fmt"
	"strings"

	"lethe/deletions/receipt"
	"lethe/internal/atomicfile"
	"lethe/internal/command"
)

type receiptCmd struct {
	Verify      receiptVerifyCmd      `cmd:"" help:"Verify the signatures and the statements of a receipt."`
	Show        receiptShowCmd        `cmd:"" help:"Print a receipt without verifying it."`
	List        receiptListCmd        `cmd:"" help:"List the receipts of a data directory, and verify each."`
	Export      receiptExportCmd      `cmd:"" help:"Export a receipt as a page to read and print."`
	Countersign receiptCountersignCmd `cmd:"" help:"Verify a receipt, and add another signature."`
}

// Help shows an example.
func (receiptCmd) Help() string {
	return "Example:\n  lethe receipt verify receipts/gdpr-17.json"
}

type receiptVerifyCmd struct {
	File string `arg:"" help:"Receipt file." type:"path"`
	trustFlags
	JSON bool `help:"Print one JSON document."`
}

// Help shows an example.
func (receiptVerifyCmd) Help() string {
	return `Example:
  lethe receipt verify gdpr-17.json --public-key receipt-ed25519.pub.pem

It needs no service and no network. Without --public-key it uses the key that is pinned in the data
directory, keys/receipt-ed25519.pub.pem. A receipt that no known key has signed is not valid,
whatever it states.`
}

var errInvalidReceipt = errors.New("the receipt is not valid")

// Run checks a receipt.
func (c *receiptVerifyCmd) Run(a *command.App) error {
	_, found, err := c.read(a, c.File)
	if err != nil {
		return err
	}
	if c.JSON {
		if err := a.PrintJSON(found); err != nil {
			return err
		}
	}
	if !found.Valid {
		return invalid(found.Verification)
	}
	if !c.JSON {
		printChecked(a.Stdout, found)
	}
	return nil
}

// invalid returns the error for an invalid receipt.
func invalid(v receipt.Verification) error {
	return fmt.Errorf("%w: %s", errInvalidReceipt, strings.Join(v.Problems, "; "))
}

func readReceipt(path string) ([]byte, error) {
	data, err := atomicfile.Read(path, receipt.MaxBytes)
	if err != nil {
		const hint = "name the file; lethe keeps receipts in the folder receipts of its data directory"
		return nil, fmt.Errorf("receipt: %w (%s)", err, hint)
	}
	return data, nil
}

type receiptShowCmd struct {
	File string `arg:"" help:"Receipt file." type:"path"`
}

// Help shows an example.
func (receiptShowCmd) Help() string {
	return `Example:
  lethe receipt show receipts/gdpr-17.json

To verify a receipt, use lethe receipt verify.`
}

// Run prints a receipt.
func (c *receiptShowCmd) Run(a *command.App) error {
	data, err := readReceipt(c.File)
	if err != nil {
		return err
	}
	r, v, err := receipt.Verify(data, receipt.Trust{})
	if err != nil {
		return fmt.Errorf("%w: %w", errInvalidReceipt, err)
	}
	if r.RequestID == "" {
		return invalid(v)
	}
	fmt.Fprintln(a.Stdout, "not checked: see lethe receipt verify")
	printReceipt(a.Stdout, r)
	return nil
}
