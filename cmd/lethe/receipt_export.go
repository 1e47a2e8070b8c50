package main

import (
	"bytes"
	"fmt"
	"time"

	"lethe/deletions/receipt"
	"lethe/deletions/receipt/page"
	"lethe/internal/atomicfile"
	"lethe/internal/command"
)

type receiptExportCmd struct {
	File string `arg:"" help:"Receipt file." type:"path"`
	trustFlags
	HTML bool   `name:"html" help:"Export as HTML. Required, because it is the only format."`
	Out  string `help:"File to write; by default standard output." type:"path" placeholder:"FILE"`
}

// Help shows an example.
func (receiptExportCmd) Help() string {
	return `Example:
  lethe receipt export receipts/gdpr-17.json --html --out gdpr-17.html

It writes one file that needs no other. The page states at the top whether the receipt is valid
under the known keys. A receipt that is not valid is exported too, with exit status 1.`
}

// Run writes the page.
func (c *receiptExportCmd) Run(a *command.App) error {
	if !c.HTML {
		return command.Usagef("give --html: a page is the only form (the receipt itself is JSON already)")
	}
	data, found, err := c.read(a, c.File)
	if err != nil {
		return err
	}
	p := page.Page{Verification: found.Verification, CheckedAt: time.Now()}
	if found.Receipt != nil {
		p.Receipt = *found.Receipt
	} else if p.Receipt, _, err = receipt.Verify(data, receipt.Trust{}); err != nil {
		return fmt.Errorf("%w: %w", errInvalidReceipt, err)
	}
	if found.Log != nil {
		p.Log = fmt.Sprintf("leaf %d of the %d of %s", found.Log.Index, found.Log.Size, found.Log.Origin)
	}
	var out bytes.Buffer
	if err := page.Write(&out, p); err != nil {
		return err
	}
	if c.Out == "" {
		_, err = a.Stdout.Write(out.Bytes())
	} else if err = atomicfile.Write(c.Out, out.Bytes(), 0o644); err == nil {
		fmt.Fprintf(a.Stderr, "wrote %s\n", c.Out)
	}
	if err == nil && !found.Valid {
		err = invalid(found.Verification)
	}
	return err
}
