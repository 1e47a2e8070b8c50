package main

import (
	"errors"
	"fmt"
	"runtime"
	"strings"
	"time"

	"lethe"
	"lethe/audit"
	"lethe/audit/challenge"
	"lethe/configs"
	"lethe/internal/atomicfile"
	"lethe/internal/command"
)

const (
	// mostNoteBytes is larger than any checkpoint or challenge.
	mostNoteBytes = 1 << 20
	// mostBundleBytes bounds an answer, which is read into memory: a shard of Bitcoin-OTC has 12
	// MB.
	mostBundleBytes = 4 << 30
)

type auditCmd struct {
	Draw   auditDrawCmd   `cmd:"" help:"Draw a challenge: a random sample of models to prove, from a signed checkpoint."`
	Export auditExportCmd `cmd:"" help:"Answer a challenge with the log, slices and models in one file."`
	Verify auditVerifyCmd `cmd:"" help:"Retrain the models of an answer and compare, without the deployment."`
}

// Help shows an example.
func (auditCmd) Help() string {
	return `The auditor has a signed checkpoint of the log and the public key, draws a challenge and keeps it.
The deployment answers the challenge. The auditor verifies the answer on another machine.

Example:
  lethe audit draw --checkpoint checkpoint.txt --seed 20311 --count 10 --out challenge.json
  lethe audit export --data-dir lethe-data --challenge challenge.json --out bundle.lethe
  lethe audit verify bundle.lethe --challenge challenge.json --public-key receipt-ed25519.pub.pem`
}

type auditDrawCmd struct {
	Checkpoint string          `required:"" help:"File with the log's signed checkpoint." type:"path" placeholder:"FILE"`
	Seed       uint64          `required:"" help:"Number that the auditor has chosen in secret." placeholder:"N"`
	Count      int             `help:"Pairs of shard and timestep to draw; 0: all." default:"10" placeholder:"K"`
	Shard      *lethe.ShardID  `help:"Draw from this shard only." placeholder:"S"`
	Timestep   *lethe.Timestep `help:"Draw from this timestep only." placeholder:"T"`
	Meta       bool            `help:"Also prove the latest meta-model, from the slices of all shards."`
	Out        string          `required:"" help:"File to write the challenge to." type:"path" placeholder:"FILE"`
	JSON       bool            `help:"Print one JSON document."`
}

// Help shows an example.
func (auditDrawCmd) Help() string {
	return `Example:
  lethe audit draw --checkpoint checkpoint.txt --seed 20311 --count 10 --out challenge.json
  lethe audit draw --checkpoint checkpoint.txt --seed 1 --shard 7 --timestep 23 --out challenge.json

The seed and the root of the log in the checkpoint determine which pairs are drawn. Which pairs
exist is known only from the leaves of the log, so lethe audit verify prints the drawn ones. Choose
the seed after the checkpoint was signed. With --meta the answer also contains the latest slices of
all shards and all models after the latest timestep, so that the version of the ensemble follows
from what was verified.`
}

// Run writes a challenge.
func (c *auditDrawCmd) Run(a *command.App) error {
	note, err := atomicfile.Read(c.Checkpoint, mostNoteBytes)
	if err != nil {
		return fmt.Errorf("--checkpoint: %w", err)
	}
	asked := challenge.Challenge{
		Checkpoint: string(note), Seed: c.Seed, Count: c.Count, Shard: c.Shard, Timestep: c.Timestep,
		Meta: c.Meta,
	}
	if err := asked.Validate(); err != nil {
		return err
	}
	id, err := asked.ID()
	if err != nil {
		return err
	}
	text, err := asked.Encode()
	if err != nil {
		return err
	}
	if err := atomicfile.Write(c.Out, text, 0o644); err != nil {
		return fmt.Errorf("--out: %w", err)
	}
	return a.Print(c.JSON, map[string]any{"challenge": id, "out": c.Out}, "challenge %s in %s\n", id, c.Out)
}

type auditExportCmd struct {
	command.ConfigFlags
	Challenge string `required:"" help:"File with the auditor's challenge." type:"path" placeholder:"FILE"`
	Out       string `required:"" help:"File to write the bundle to." type:"path" placeholder:"FILE"`
	JSON      bool   `help:"Print one JSON document."`
}

// Help shows an example.
func (auditExportCmd) Help() string {
	return `Example:
  lethe audit export --data-dir lethe-data --challenge challenge.json --out bundle.lethe

Stop lethe run on the data directory first, because this command opens the stores itself. Use the
configuration that the directory was written with. The bundle contains features and labels under
pseudonyms: give it to nobody but the auditor.`
}

// Run builds the answer to a challenge.
func (c *auditExportCmd) Run(a *command.App) error {
	config, err := c.Load(a, nil)
	if err != nil {
		return err
	}
	asked, err := readChallenge(c.Challenge)
	if err != nil {
		return err
	}
	bundle, err := audit.Answer(config, asked)
	if err != nil {
		return err
	}
	data := bundle.Encode()
	if err := atomicfile.Write(c.Out, data, 0o600); err != nil {
		return fmt.Errorf("--out: %w", err)
	}
	return a.Print(c.JSON, map[string]any{
		"challenge": bundle.Challenge, "out": c.Out, "bytes": len(data), "leaves": len(bundle.Leaves),
		"slices": len(bundle.Slices), "models": len(bundle.Models), "openings": len(bundle.Openings),
	}, "%s: %d bytes, %d leaves of the log, %d slices, %d models before, %d requests opened\n", c.Out,
		len(data), len(bundle.Leaves), len(bundle.Slices), len(bundle.Models), len(bundle.Openings))
}

func readChallenge(path string) (challenge.Challenge, error) {
	data, err := atomicfile.Read(path, mostNoteBytes)
	if err != nil {
		return challenge.Challenge{}, fmt.Errorf("--challenge: %w", err)
	}
	c, err := challenge.Decode(data)
	if err != nil {
		return c, fmt.Errorf("--challenge: %w", err)
	}
	return c, nil
}

type auditVerifyCmd struct {
	Bundle     string `arg:"" help:"Bundle with the deployment's answer." type:"path"`
	Challenge  string `required:"" help:"File with your challenge." type:"path" placeholder:"FILE"`
	PublicKey  string `required:"" help:"The deployment's public key, from another source." type:"path" placeholder:"FILE"`
	Checkpoint string `help:"Signed checkpoint that the challenge must use." type:"path" placeholder:"FILE"`
	JSON       bool   `help:"Print one JSON document."`
}

// Help shows an example.
func (auditVerifyCmd) Help() string {
	return `Example:
  lethe audit verify bundle.lethe --challenge challenge.json --public-key receipt-ed25519.pub.pem

It needs no service, network or configuration, and runs on any processor. If the answer is wrong,
it prints the statement that fails, with exit status 1.`
}

var errAudit = errors.New("the answer does not hold")

// auditResult is the JSON output of verify.
type auditResult struct {
	*challenge.Report
	Seconds float64 `json:"seconds"`
}

// Run checks an answer.
func (c *auditVerifyCmd) Run(a *command.App) error {
	asked, err := readChallenge(c.Challenge)
	if err != nil {
		return err
	}
	if c.Checkpoint != "" {
		note, err := atomicfile.Read(c.Checkpoint, mostNoteBytes)
		if err != nil {
			return fmt.Errorf("--checkpoint: %w", err)
		}
		if string(note) != asked.Checkpoint {
			return fmt.Errorf("%w: the challenge is of another checkpoint of the log", errAudit)
		}
	}
	key, err := configs.ReadPublicKey(c.PublicKey)
	if err != nil {
		return fmt.Errorf("--public-key: %w", err)
	}
	data, err := atomicfile.Read(c.Bundle, mostBundleBytes)
	if err != nil {
		return fmt.Errorf("bundle: %w", err)
	}
	bundle, err := challenge.DecodeBundle(data)
	if err != nil {
		return fmt.Errorf("%w: %w", errAudit, err)
	}
	p := command.NewProgress(a.Stderr)
	report, err := challenge.Verify(a.Context, bundle, asked, challenge.Options{
		Key: key, Workers: runtime.GOMAXPROCS(0),
		Progress: func(done, of int) { p.Show("trained %d of %d models anew", done, of) },
	})
	if err != nil {
		return err
	}
	seconds := time.Since(p.Started).Seconds()
	if c.JSON {
		err = a.PrintJSON(auditResult{report, seconds})
	} else {
		printAnswer(a, report, seconds)
	}
	if err == nil && !report.OK {
		err = fmt.Errorf("%w: %s", errAudit, strings.Join(report.Problems, "; "))
	}
	return err
}

// printAnswer prints the result of a check as text.
func printAnswer(a *command.App, r *challenge.Report, seconds float64) {
	fmt.Fprintf(a.Stdout, "log %s, %d leaves; %d of %d pairs drawn\n", r.Log, r.LogSize, len(r.Pairs), r.Population)
	var pairs []string
	for _, p := range r.Pairs {
		pairs = append(pairs, fmt.Sprintf("%d@%d", p.Shard, p.Timestep))
	}
	fmt.Fprintln(a.Stdout, "pairs (shard@timestep):", strings.Join(pairs, " "))
	fmt.Fprintf(a.Stdout, "%d slices looked through for the targets of %d requests; %d requests are not done\n", r.Slices,
		r.Requests, r.UnderWay)
	if r.OpenPayments > 0 {
		fmt.Fprintf(a.Stdout, "%d edges or stubs join both ends of a payment that was erased: they may stand for one the "+
			"other way\n", r.OpenPayments)
	}
	if r.NotCommitted > 0 {
		fmt.Fprintf(a.Stdout, "%d transactions, stubs and payments that were erased are not looked for: the log does not "+
			"commit to them\n", r.NotCommitted)
	}
	fmt.Fprintf(a.Stdout, "%d models trained anew in %.1f s, kernels %s, configuration %s\n", r.Models, seconds,
		r.KernelSet, r.Setup)
	if !r.Ensemble.IsZero() {
		fmt.Fprintln(a.Stdout, "ensemble after the newest timestep:", r.Ensemble)
	}
	for _, problem := range r.Problems {
		fmt.Fprintln(a.Stdout, "problem:", problem)
	}
	if r.OK {
		fmt.Fprintln(a.Stdout, "ok")
	}
}
