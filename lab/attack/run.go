package attack

import (
	"context"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"time"

	"lethe"
	"lethe/configs"
)

// Run trains, erases and attacks. It is repeatable: everything but Seconds is a
// function of the stream, the seeds, the configuration and the kernel set.
//
// Errors: a broken option, a deployment that fails or does not get its erasure
// verified, the context's error. A leak is a finding, no error.
func Run(ctx context.Context, o Options) (*Report, error) {
	started := time.Now()
	if err := o.Validate(); err != nil {
		return nil, fmt.Errorf("attack options: %w", err)
	}
	deployed, shadow := halves(o.Stream)
	totals := o.Stream.Totals()
	c := &campaign{
		Options: o,
		victim:  newScenario(deployed, o.Targets, o.Requests, lethe.NewDraw(o.Seed, "targets")),
		shadow:  newScenario(shadow, o.Targets, o.Requests, lethe.NewDraw(o.Seed, "shadow-targets")),
		report: &Report{
			Dataset: o.Stream.Name, Timesteps: totals.Steps, Transactions: totals.Transactions,
			Shards: o.Config.Partition.Shards, Targets: o.Targets, Requests: o.Requests,
			Mislabelled: o.Mislabel, Seed: o.Seed,
		},
	}
	wrong, wrongShadow := c.victim.mislabelled(), c.shadow.mislabelled()
	if o.Mislabel {
		c.victim, c.shadow = wrong, wrongShadow
	}
	set, err := o.Config.KernelSet()
	if err != nil {
		return nil, err
	}
	if c.secret, err = drawSecret(o.scopeConfig(o.Scopes[0])); err != nil {
		return nil, err
	}
	if c.learners, err = learners(o.Seed, set); err != nil {
		return nil, err
	}
	if err := c.controls(ctx, wrong, wrongShadow); err != nil {
		return nil, fmt.Errorf("positive control: %w", err)
	}
	for _, scope := range o.Scopes {
		if err := c.attack(ctx, scope); err != nil {
			return nil, fmt.Errorf("scope %s: %w", scope, err)
		}
	}
	c.report.conclude()
	c.report.Seconds = time.Since(started).Seconds()
	return c.report, nil
}

// scopeConfig is the configuration of the deployment that a scope is attacked
// on.
func (o Options) scopeConfig(scope lethe.Scope) configs.Config {
	c := o.Config
	c.DataDir = filepath.Join(c.DataDir, string(scope))
	return c
}

// drawSecret makes the deployment's secret from its seed, so that runs repeat.
// It protects data that the attacker is given anyway.
func drawSecret(c configs.Config) (lethe.Secret, error) {
	var key [32]byte
	d := lethe.NewDraw(c.Seed, "attack-secret")
	for i := range key {
		key[i] = byte(d.Uint64())
	}
	return configs.LoadOrCreateSecret(c.SecretPath(), rand.NewChaCha8(key))
}

// campaign is one run.
type campaign struct {
	Options
	secret         lethe.Secret
	victim, shadow *scenario
	// overfit and overfitShadow are views of models that know wrong labels by
	// heart.
	overfit, overfitShadow *view
	learners               []learner
	report                 *Report
}

// attack runs all attacks on a deployment of its own.
func (c *campaign) attack(ctx context.Context, scope lethe.Scope) error {
	shadow, engine, err := c.inReplica(ctx, c.Config, c.shadow, scope, func(done, of int) {
		c.Progress("scope %s: %d of %d shadow models trained", scope, done, of)
	})
	if err != nil {
		return err
	}
	config := c.scopeConfig(scope)
	if _, err := drawSecret(config); err != nil {
		return err
	}
	var asked []lethe.ErasureRequest
	for i, nodes := range c.victim.members {
		asked = append(asked, lethe.ErasureRequest{RequestID: fmt.Sprintf("attack-%s-%d", scope, i+1),
			Targets: lethe.Transactions(nodes...), Scope: scope})
	}
	seen, err := expose(ctx, c.Options, config, without(c.victim.stream, c.victim.outside), asked)
	if err != nil {
		return err
	}
	c.report.Erasures = append(c.report.Erasures, seen.erasures...)
	c.Progress("scope %s: attacking", scope)
	oracles := make([]*oracle, len(seen.versions))
	versions := make([]answers, len(seen.versions))
	for i, p := range seen.versions {
		oracles[i] = newOracle(engine, p.models)
		if versions[i], err = oracles[i].askTargets(ctx, c.secret, c.victim); err != nil {
			return err
		}
	}
	if err := c.membership(scope, shadow, newView(c.victim, versions)); err != nil {
		return err
	}
	if err := c.edges(ctx, scope, oracles[0], oracles[len(oracles)-1]); err != nil {
		return err
	}
	return c.residue(scope, seen.versions[0], seen.versions[len(seen.versions)-1])
}
