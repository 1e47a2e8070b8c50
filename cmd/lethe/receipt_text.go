package main

import (
	"fmt"
	"io"
	"strings"

	"lethe"
	"lethe/deletions/receipt"
)

// printChecked prints the content of a valid receipt, and its signers, as text.
func printChecked(out io.Writer, c checked) {
	fmt.Fprintf(out, "valid: request %s\n", c.Receipt.RequestID)
	for _, s := range c.Signatures {
		by := "a key that is not known here: nothing follows from it (--public-key)"
		if s.Known {
			by = "trusted key"
		}
		fmt.Fprintf(out, "signed by %s (%s)\n", s.KeyID, by)
	}
	fmt.Fprintf(out, "leaf %d of the %d of %s\n", c.Log.Index, c.Log.Size, c.Log.Origin)
	printReceipt(out, *c.Receipt)
}

// printReceipt prints the content of a receipt as text.
func printReceipt(out io.Writer, r receipt.Receipt) {
	if finding := r.Finding(); finding != "" {
		fmt.Fprintln(out, finding)
	}
	fmt.Fprintf(out, "request %s, everything searched at %s\n", r.RequestID,
		r.VerifiedAt.Format("2006-01-02 15:04:05 MST"))
	fmt.Fprintf(out, "digest of the request: %s\n", r.RequestDigest)
	fmt.Fprintf(out, "deployment %s, configuration %s\n", r.Deployment, r.Configuration)
	if len(r.SignedBy) > 0 {
		fmt.Fprintf(out, "request signed by %s\n", strings.Join(r.SignedBy, ", "))
	}
	fmt.Fprintf(out, "scope %s: %d targets, %d slices replaced, %d shards retrained\n",
		r.Scope, len(r.Targets), len(r.SlicesReplaced), len(r.ShardsRetrained))
	for _, at := range r.Replaced {
		for _, s := range at.Slices {
			fmt.Fprintf(out, "  timestep %d, shard %d: slice %.16s became %.16s\n", at.Timestep, s.Shard, s.Before,
				orNone(digestText(s.After)))
		}
	}
	for _, o := range r.Outcomes {
		fmt.Fprintf(out, "  target %s: %s\n", o.Target, o.Outcome)
	}
	if refitted := refittedText(r.GroupsRefitted); refitted != "" {
		fmt.Fprintf(out, "groups refitted: %s\n", refitted)
	}
	if took := elapsedText(r.Elapsed); took != "" {
		fmt.Fprintf(out, "after it was received: %s\n", took)
	}
	fmt.Fprintf(out, "ensemble %s became %s\n", orNone(digestText(r.EnsembleBefore)), orNone(digestText(r.EnsembleAfter)))
	if before := r.Checkpoints.Before; len(before) == len(r.Checkpoints.After) {
		for i, digest := range r.Checkpoints.After {
			if digest != before[i] {
				fmt.Fprintf(out, "  model %d: checkpoint %.16s became %.16s\n", i, before[i], digest)
			}
		}
	}
	fmt.Fprintf(out, "searched %d files and %d records, %d hits; kernels %s, lethe %s\n",
		r.Scan.Files, r.Scan.Records, r.Scan.Hits, r.KernelSet, r.SoftwareVersion)
	for _, row := range r.Artefacts {
		fmt.Fprintf(out, "  %-20s %-16s found %d, remaining %d (%s)\n", row.Artefact, row.Action, row.Found,
			row.Remaining, row.Location)
	}
	fmt.Fprintln(out, "what may remain:")
	for _, text := range r.MayRemain {
		fmt.Fprintln(out, "  -", text)
	}
}

// digestText is empty for a zero digest.
func digestText(d lethe.Digest) string {
	if d.IsZero() {
		return ""
	}
	return d.String()
}
