package attack

import (
	"context"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"time"

	"lethe"
	"lethe/configs"
	"lethe/evaluation/attack/roc"
	"lethe/partition"
	"lethe/trainer"
)

// Run trains, erases and attacks. It is repeatable: everything but Seconds is a
// function of the stream, the seeds, the configuration and the kernel set.
//
// Errors: a broken option, a deployment that fails or does not get its erasure
// verified, the context's error. A leak is a finding, no error.
func Run(ctx context.Context, o Options) (*Report, error) {
	started := time.Now()
	o = o.EnsureDefaults()
	if err := o.Validate(); err != nil {
		return nil, fmt.Errorf("attack options: %w", err)
	}
	deployed, shadow := halves(o.Stream)
	totals := o.Stream.Totals()
	c := &campaign{
		Options: o,
		victim:  newWorld(deployed, o.Targets, o.Seed, "targets"),
		shadow:  newWorld(shadow, o.Targets, o.Seed, "shadow-targets"),
		report: &Report{
			Dataset: o.Stream.Name, Timesteps: totals.Steps, Transactions: totals.Transactions,
			Shards: o.Config.Partition.Shards, Targets: o.Targets, Seed: o.Seed,
		},
	}
	var err error
	if c.secret, err = drawSecret(o.scopeConfig(o.Scopes[0])); err != nil {
		return nil, err
	}
	if err := c.controls(ctx); err != nil {
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
	victim, shadow *world
	// overfit and overfitShadow are views of models that hold on to what they
	// were trained on.
	overfit, overfitShadow *view
	report                 *Report
}

// overfitted is the configuration of the positive control: one model for all,
// trained on everything at once until it knows it by heart.
func (c *campaign) overfitted() configs.Config {
	out := c.Config
	out.Partition.Shards, out.Partition.Method = 1, partition.MethodRandom
	out.Scoring.Aggregation = "mean"
	out.Trainer.Schedule = trainer.Window
	out.Trainer.WindowTimesteps = max(len(c.victim.stream.Steps), len(c.shadow.stream.Steps))
	out.Trainer.Passes = c.OverfitPasses
	out.Trainer.WeightDecay = 0
	return out
}

// controls trains the overfitted models of both worlds, with and without the
// members.
func (c *campaign) controls(ctx context.Context) (err error) {
	c.Progress("positive control: overfitting the attacked data")
	if c.overfit, _, err = c.inLab(ctx, c.overfitted(), c.victim, lethe.ScopeStubs); err != nil {
		return err
	}
	c.Progress("positive control: overfitting the attacker's data")
	c.overfitShadow, _, err = c.inLab(ctx, c.overfitted(), c.shadow, lethe.ScopeStubs)
	return err
}

// inLab trains a world in memory before and after its erasure.
func (c *campaign) inLab(ctx context.Context, config configs.Config, w *world, scope lethe.Scope) (*view, *lab, error) {
	before, err := newLab(ctx, config, c.secret, without(w.stream, w.outside))
	if err != nil {
		return nil, nil, err
	}
	after, err := before.erase(scope, w.members)
	if err != nil {
		return nil, nil, err
	}
	out, queries := &view{world: w}, graphs(c.secret, w.stream, nil)
	for _, version := range []struct {
		lab *lab
		to  *answers
	}{{before, &out.before}, {after, &out.after}} {
		models, err := version.lab.train(ctx)
		if err != nil {
			return nil, nil, err
		}
		e := &ensemble{engine: version.lab.engine, config: config.Scoring, models: models}
		if *version.to, err = e.ask(ctx, queries); err != nil {
			return nil, nil, err
		}
	}
	return out, before, nil
}

// attack runs all attacks on a deployment of its own.
func (c *campaign) attack(ctx context.Context, scope lethe.Scope) error {
	c.Progress("scope %s: training the attacker's shadow models", scope)
	shadow, laboratory, err := c.inLab(ctx, c.Config, c.shadow, scope)
	if err != nil {
		return err
	}
	config := c.scopeConfig(scope)
	if _, err := drawSecret(config); err != nil {
		return err
	}
	request := lethe.ErasureRequest{RequestID: "attack-" + string(scope), Nodes: c.victim.members, Scope: scope}
	seen, err := expose(ctx, c.Options, config, without(c.victim.stream, c.victim.outside), request)
	if err != nil {
		return err
	}
	c.report.Erasures = append(c.report.Erasures, Erasure{
		Scope: scope, State: string(seen.status.State), Nodes: seen.status.Counts.Nodes,
		SlicesReplaced: seen.status.Counts.Slices, ShardsRetrained: seen.status.Counts.Shards, Seconds: seen.seconds,
	})
	c.Progress("scope %s: attacking", scope)
	ask := func(p *published, lonely map[lethe.TransactionID]bool) (answers, error) {
		e := &ensemble{engine: laboratory.engine, config: c.Config.Scoring, models: p.models}
		return e.ask(ctx, graphs(c.secret, c.victim.stream, lonely))
	}
	victim := &view{world: c.victim}
	if victim.before, err = ask(seen.before, nil); err != nil {
		return err
	}
	if victim.after, err = ask(seen.after, nil); err != nil {
		return err
	}
	if err := c.membership(scope, shadow, victim); err != nil {
		return err
	}
	held, err := ask(seen.before, c.victim.outside)
	if err != nil {
		return err
	}
	left, err := ask(seen.after, c.victim.gone)
	if err != nil {
		return err
	}
	if err := c.edges(scope, held, left); err != nil {
		return err
	}
	return c.residue(scope, seen)
}

// membership runs the attacks on posteriors.
func (c *campaign) membership(scope lethe.Scope, shadow, victim *view) error {
	learners := learners()
	single := classical(learners[0])(shadow, victim.unchanged())
	for _, a := range membershipAttacks(learners) {
		control := c.overfit
		if a.adversary == UnlearnedModel {
			// On an erasure that does nothing: the models still hold the members.
			control = control.unchanged()
		}
		f := Finding{Attack: a.name, Adversary: a.adversary, Scope: scope, Samples: len(victim.targets)}
		scores := a.score(shadow, victim)
		var err error
		if f.Result, f.resultCurve, err = measure(scores, victim.isMember()); err != nil {
			return err
		}
		if f.Control, f.controlCurve, err = measure(a.score(c.overfitShadow, control), control.isMember()); err != nil {
			return err
		}
		if a.adversary == UnlearnedModel {
			before, _, err := measure(a.score(shadow, victim.unchanged()), victim.isMember())
			if err != nil {
				return err
			}
			f.Before = &before
		} else if a.name != l2Distance {
			count, rate := degradation(victim.isMember(), scores, single)
			f.DegradationCount, f.DegradationRate = &count, &rate
		}
		c.report.Findings = append(c.report.Findings, f)
	}
	return nil
}

// edges runs the attack on former payments. held are the posteriors before the
// erasure on the graph with the members in it, left those after it; there the
// attacker puts the record in question beside the graph, without payments.
func (c *campaign) edges(scope lethe.Scope, held, left answers) error {
	members, outsiders := c.victim.pairsOf(true, c.Seed), c.victim.pairsOf(false, c.Seed)
	f := Finding{Attack: "edge-similarity", Adversary: ModelAndGraph, Scope: scope, Samples: len(members)}
	var err error
	if f.Control, f.controlCurve, err = c.measureClusters(similarity(members, held)); err != nil {
		return fmt.Errorf("edges of members: %w", err)
	}
	if f.Result, f.resultCurve, err = c.measureClusters(similarity(members, left)); err != nil {
		return err
	}
	never, _, err := c.measureClusters(similarity(outsiders, left))
	if err != nil {
		return fmt.Errorf("edges of outsiders: %w", err)
	}
	f.NeverHeld = &never
	c.report.Findings = append(c.report.Findings, f)
	return nil
}

// residue compares slices with the graph that is left; the control's slices are
// those of before.
func (c *campaign) residue(scope lethe.Scope, seen *exposure) error {
	f := Finding{Attack: "degree-residue", Adversary: SlicesAndGraph, Scope: scope}
	for _, side := range []struct {
		from  *published
		to    *Measured
		curve *[]roc.Point
	}{{seen.before, &f.Control, &f.controlCurve}, {seen.after, &f.Result, &f.resultCurve}} {
		samples, err := residue(c.victim, c.secret, side.from.slices)
		if err != nil {
			return err
		}
		f.Samples = len(samples)
		scores, positive := unzip(samples)
		if *side.to, *side.curve, err = measure(scores, positive); err != nil {
			return fmt.Errorf("neighbours of members: %w", err)
		}
	}
	c.report.Findings = append(c.report.Findings, f)
	return nil
}

// measure estimates an area over independent samples.
func measure(scores []float64, positive []bool) (Measured, []roc.Point, error) {
	e, err := roc.DeLong(scores, positive)
	if err != nil {
		return Measured{}, nil, err
	}
	return Measured{estimate: e}, roc.Curve(scores, positive), nil
}

// measureClusters estimates an area over samples that depend on each other.
func (c *campaign) measureClusters(samples []roc.Sample) (Measured, []roc.Point, error) {
	e, err := roc.Bootstrap(samples, c.Seed)
	if err != nil {
		return Measured{}, nil, err
	}
	scores, positive := unzip(samples)
	return Measured{estimate: e}, roc.Curve(scores, positive), nil
}

func unzip(samples []roc.Sample) (scores []float64, positive []bool) {
	for _, s := range samples {
		scores, positive = append(scores, s.Score), append(positive, s.Positive)
	}
	return scores, positive
}
