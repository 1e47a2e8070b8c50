package main

import (
	"fmt"
	"io"

	"lethe/demo"
	"lethe/internal/command"
)

// afterwards is the use of the data directory after the demo.
type afterwards struct{ serves, removes bool }

// printDemo prints the result as text.
func printDemo(a *command.App, r *demo.Result, then afterwards) error {
	if err := command.Table(a.Stdout, stepRows(r.Steps)); err != nil {
		return err
	}
	printAccuracy(a.Stdout, r)
	for _, e := range r.Erasures {
		printErasure(a.Stdout, e, r)
		if !then.removes || then.serves {
			fmt.Fprintf(a.Stdout, "  look for it yourself: grep -rc %s %s | grep -v ':0'\n", e.Nodes[0], r.DataDir)
		}
	}
	fmt.Fprintf(a.Stdout, "\n%d transactions, %d payments, %d predictions in %.1f s; ensemble %s\n", r.Transactions,
		r.Payments, r.Predictions, r.Seconds, r.EnsembleHash)
	kept := "delete it with rm -r " + r.DataDir
	if then.removes {
		kept = "removed at the end; lethe demo --keep keeps it, to search it yourself"
	}
	fmt.Fprintf(a.Stdout, "data directory: %s, %s (%s)\n", r.DataDir, diskText(r.DiskBytes), kept)
	return nil
}

func printAccuracy(w io.Writer, r *demo.Result) {
	fmt.Fprintf(w, "\ntest timesteps %d-%d, each scored before its labels were learnt: AUC %s, average precision %s, "+
		"macro-F1 %.3f, illicit-F1 %.3f (%d labelled, %d illicit)\n",
		r.TestTimesteps[0], r.TestTimesteps[1], command.OrDash(r.Test.AUC), command.OrDash(r.Test.AveragePrecision),
		r.Test.MacroF1, r.Test.IllicitF1, r.Test.Labelled, r.Test.Illicit)
	if r.Test.BestF1 != nil {
		fmt.Fprintf(w, "best illicit-F1 of any one threshold for all of them, in hindsight: %.3f; mean calibration "+
			"error: %s\n", *r.Test.BestF1, command.OrDash(r.Test.ExpectedCalibrationError))
	}
}

// printErasure prints the changes of an erasure, its cost, and the proof.
func printErasure(w io.Writer, e demo.Erasure, r *demo.Result) {
	fmt.Fprintf(w, "\nerasure %s of transaction %s, scope %s: %s in %.1f s\n", e.RequestID, e.Nodes[0], e.Scope,
		e.State, e.Seconds)
	fmt.Fprintf(w, "  replaced: %d slices of %d shards; refitted groups: %s\n", e.SlicesReplaced,
		e.ShardsRetrained, refittedText(e.GroupsRefitted))
	fmt.Fprintf(w, "  processor time: %.2f s until the models had forgotten it, %.2f s to train all models again "+
		"(%.0f %%)\n",
		e.CPUSecondsSwapped, e.CPUSecondsRetrainAll, 100*e.CPUSecondsSwapped/e.CPUSecondsRetrainAll)
	fmt.Fprintf(w, "  no output contained it after %.2f s; the models had forgotten it after %.2f s; every copy was "+
		"rewritten after %.2f s, and searched after %.2f s\n", e.SecondsSuppressed, e.SecondsSwapped, e.SecondsErased,
		e.SecondsVerified)
	fmt.Fprintf(w, "  searched before the receipt was signed: %d files and %d records of %d topics, nothing left\n",
		e.Searched.Files, e.Searched.Records, e.Searched.Topics)
	fmt.Fprintf(w, "  ensemble %.16s... became %.16s...\n", e.EnsembleBefore, e.EnsembleAfter)
	fmt.Fprintf(w, "  proof: %d checkpoints, trained again from slices without it, are byte-identical; "+
		"%d files and %d records of %d topics searched again, nothing left\n",
		r.Audit.FreshCheckpoints, r.Audit.Files, r.Audit.Records, r.Audit.Topics)
	fmt.Fprintf(w, "  receipt: %s (valid: %t)\n", e.Receipt, e.ReceiptValid)
}
