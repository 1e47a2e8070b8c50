package main

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"lethe"
	"lethe/configs"
	"lethe/dataset"
	"lethe/internal/check"
	"lethe/internal/command"
	"lethe/lab/attack"
	"lethe/lab/graphs"
)

type attackCmd struct {
	command.ConfigFlags
	Dataset  string   `help:"${elliptic_or_generated}" type:"path" placeholder:"DIR"`
	Scope    []string `help:"Scopes to attack: ${enum}; all by default." enum:"${attack_scopes}" placeholder:"SCOPE"`
	Targets  int      `help:"${attack_targets}" placeholder:"N"`
	Requests int      `help:"${attack_requests}" placeholder:"N"`
	Mislabel bool     `help:"Send the targets with wrong labels: the worst case, because a model can only memorise them."`
	Steps    int      `help:"${attack_steps}" placeholder:"N"`
	Seed     uint64   `help:"Seed of the targets and the attackers." default:"1"`
	Out      string   `help:"Folder for the report as Markdown, CSV and ROC curves (PNG)." type:"path" placeholder:"DIR"`
	Quick    bool     `help:"Use a small deployment and few timesteps: under a minute."`
	JSON     bool     `help:"Print one JSON document."`
}

// Help shows an example.
func (attackCmd) Help() string {
	return `Example:
  lethe-lab attack --quick
  lethe-lab attack --dataset elliptic_bitcoin_dataset --scope stubs --targets 200 --out attacks

A deployment with one network per shard (configs/examples/gin.yaml) is trained on half of the
timesteps, and random labelled transactions are erased through the topics. Membership, former
payments and degrees are then attacked with what is published before and after. Every attack also
runs where it must succeed; if it does not, its verdict is "no power". The exit status is 1 if an
attack finds a signal in what remains after an erasure at scope stubs.`
}

const (
	quickAttackSteps = 6
	quickRequests    = 2
	cleanInterval    = "embedded.clean_interval"
)

// quickSettings shrink the deployment that --quick attacks.
func quickSettings() map[string]any {
	return map[string]any{"partition.shards": 10, "trainer.hidden": 32}
}

// Run attacks and reports.
func (c *attackCmd) Run(a *command.App) (err error) {
	if err := c.check(); err != nil {
		return command.WrongFlags(err)
	}
	stream, err := c.stream(a)
	if err != nil {
		return err
	}
	config, cleanup, err := c.config(a)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, cleanup()) }()
	p := command.NewProgress(a.Stderr)
	o := c.options(a, stream, config)
	o.Progress = p.Show
	if err := o.Validate(); err != nil {
		return command.WrongFlags(err)
	}
	report, err := attack.Run(a.Context, o)
	if err != nil {
		return err
	}
	p.Done("done")
	if c.Out != "" {
		if err := attack.Write(c.Out, report); err != nil {
			return fmt.Errorf("%w (name another folder with --out)", err)
		}
	}
	if c.JSON {
		err = a.PrintJSON(report)
	} else {
		err = printAttack(a, report)
	}
	if err == nil && report.LeaksAtStubs {
		err = errors.New("an attack on what is left after an erasure at scope stubs finds a signal")
	}
	return err
}

// check finds wrong numbers before any data is loaded; 0 takes the default.
func (c *attackCmd) check() error {
	var p check.Problems
	p.AtLeast("targets", c.Targets, 0)
	p.AtLeast("requests", c.Requests, 0)
	p.That(c.Steps == 0 || c.Steps >= attack.MinTimesteps, "steps", c.Steps, "at least %d", attack.MinTimesteps)
	return p.Err()
}

// options are what the flags say, or else the defaults.
func (c *attackCmd) options(a *command.App, stream *dataset.Stream, config configs.Config) attack.Options {
	o := attack.Defaults(stream, config)
	o.Mislabel, o.Seed, o.Version = c.Mislabel, c.Seed, a.Version
	if len(c.Scope) > 0 {
		o.Scopes = nil
	}
	for _, s := range c.Scope {
		o.Scopes = append(o.Scopes, lethe.Scope(s))
	}
	if c.Targets > 0 {
		o.Targets = c.Targets
		o.Requests = attack.RequestsFor(c.Targets)
	}
	switch {
	case c.Requests > 0:
		o.Requests = c.Requests
	case c.Quick:
		o.Requests = quickRequests
	}
	if config.Log.Level == "debug" {
		o.Logger = a.Logger(config.Log)
	}
	return o
}

// stream loads or generates the data.
func (c *attackCmd) stream(a *command.App) (*dataset.Stream, error) {
	steps := c.Steps
	switch {
	case steps > 0:
	case c.Quick:
		steps = quickAttackSteps
	default:
		steps = attack.EnoughTimesteps
	}
	if c.Dataset == "" {
		// More labels than in Elliptic: targets are labelled transactions.
		options := dataset.GenerateDefaults()
		options.Steps, options.Seed, options.IllicitFraction, options.LicitFraction = steps, c.Seed, .1, .4
		return dataset.Generate(options)
	}
	if kind, err := graphs.Detect(c.Dataset); err == nil && kind == graphs.CitationArchive {
		return nil, command.Usagef("--dataset %s is a citation archive: lethe's pipeline takes streams of licit and "+
			"illicit transactions (give a folder in Elliptic's format)", c.Dataset)
	}
	stream, err := command.LoadStream(a, c.Dataset, "", configs.Default())
	if err == nil && steps < len(stream.Steps) {
		stream.Steps = stream.Steps[:steps]
	}
	return stream, err
}

// config takes a folder that is removed afterwards unless one is named, and
// free ports.
func (c *attackCmd) config(a *command.App) (_ configs.Config, cleanup func() error, err error) {
	cleanup = func() error { return nil }
	if len(c.Brokers) > 0 {
		return configs.Config{}, cleanup, command.Usagef("an attack brings its own broker: --brokers %s cannot be attacked",
			strings.Join(c.Brokers, ","))
	}
	extra := map[string]any{"embedded.port": 0, "http.address": "127.0.0.1:0"}
	// Verification waits for compaction; nobody else uses this broker.
	if _, set := c.Set[cleanInterval]; !set {
		extra[cleanInterval] = "200ms"
	}
	if c.Quick {
		for key, value := range quickSettings() {
			if _, set := c.Set[key]; !set {
				extra[key] = value
			}
		}
	}
	made, err := c.FreshDataDir("lethe-attack-", "an attack")
	if err != nil {
		return configs.Config{}, cleanup, err
	}
	if made != "" {
		extra["data_dir"] = made
		cleanup = func() error { return os.RemoveAll(made) }
	}
	config, err := c.LoadOver(a, configs.PerShard, extra)
	if err != nil {
		err = errors.Join(err, cleanup())
	}
	return config, cleanup, err
}

func printAttack(a *command.App, r *attack.Report) error {
	for _, e := range r.Erasures {
		fmt.Fprintf(a.Stdout, "erasure %s at scope %s: %d transactions %s in %.1f s, %d slices replaced, %d shards "+
			"retrained\n",
			e.RequestID, e.Scope, e.Nodes, e.State, e.Seconds, e.SlicesReplaced, e.ShardsRetrained)
	}
	fmt.Fprintln(a.Stdout)
	findings := r.Table()
	if err := command.Table(a.Stdout, append([][]string{findings.Columns}, findings.Rows...)); err != nil {
		return err
	}
	fmt.Fprintln(a.Stdout)
	for _, note := range findings.Notes {
		fmt.Fprintln(a.Stdout, note)
	}
	fmt.Fprintf(a.Stdout, "%s in %.1f s\n", r.Dataset, r.Seconds)
	return nil
}
