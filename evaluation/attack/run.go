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
	"lethe/scoring"
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
		victim:  newWorld(deployed, o.Targets, o.Requests, lethe.NewDraw(o.Seed, "targets")),
		shadow:  newWorld(shadow, o.Targets, o.Requests, lethe.NewDraw(o.Seed, "shadow-targets")),
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
	var err error
	if c.secret, err = drawSecret(o.scopeConfig(o.Scopes[0])); err != nil {
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
	victim, shadow *world
	// overfit and overfitShadow are views of models that know wrong labels by
	// heart.
	overfit, overfitShadow *view
	report                 *Report
}

// overfitHidden is wide enough to learn wrong labels by heart.
const overfitHidden = 64

// overfitted is the configuration of the positive control: one model for all,
// trained on everything at once until it knows it by heart.
func (c *campaign) overfitted() configs.Config {
	out := c.Config
	out.Partition.Shards, out.Partition.Method = 1, partition.MethodRandom
	out.Scoring.Aggregation = string(scoring.MethodMean)
	out.Trainer.Schedule = trainer.Window
	out.Trainer.WindowTimesteps = max(len(c.victim.stream.Steps), len(c.shadow.stream.Steps))
	out.Trainer.Passes = c.OverfitPasses
	out.Trainer.Hidden = overfitHidden
	out.Trainer.WeightDecay = 0
	return out
}

// controls trains overfitted models of both worlds through all erasures. Their
// targets have wrong labels, which cannot be learnt from the other transactions.
func (c *campaign) controls(ctx context.Context, victim, shadow *world) (err error) {
	say := func(whose string) func(done, of int) {
		return func(done, of int) {
			c.Progress("positive control: %d of %d models overfitted to %s data", done, of, whose)
		}
	}
	if c.overfit, _, err = c.inLab(ctx, c.overfitted(), victim, lethe.ScopeStubs, say("the deployment's")); err != nil {
		return err
	}
	c.overfitShadow, _, err = c.inLab(ctx, c.overfitted(), shadow, lethe.ScopeStubs, say("the attacker's"))
	return err
}

// inLab trains a world in memory, before any erasure and after each. It returns
// the engine too, which can query any model.
func (c *campaign) inLab(ctx context.Context, config configs.Config, w *world, scope lethe.Scope, progress func(done, of int)) (*view, *trainer.Engine, error) {
	l, err := newLab(ctx, config, c.secret, without(w.stream, w.outside))
	if err != nil {
		return nil, nil, err
	}
	var versions []answers
	for r := 0; ; r++ {
		progress(r, w.requests+1)
		models, err := l.train(ctx)
		if err != nil {
			return nil, nil, err
		}
		e := &ensemble{engine: l.engine, config: config.Scoring, models: models}
		a, err := e.askTargets(ctx, c.secret, w)
		if err != nil {
			return nil, nil, err
		}
		if versions = append(versions, a); r == w.requests {
			return newView(w, versions), l.engine, nil
		}
		if l, err = l.erase(scope, w.members[r]); err != nil {
			return nil, nil, err
		}
	}
}

// attack runs all attacks on a deployment of its own.
func (c *campaign) attack(ctx context.Context, scope lethe.Scope) error {
	shadow, engine, err := c.inLab(ctx, c.Config, c.shadow, scope, func(done, of int) {
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
		asked = append(asked, lethe.ErasureRequest{RequestID: fmt.Sprintf("attack-%s-%d", scope, i+1), Nodes: nodes, Scope: scope})
	}
	seen, err := expose(ctx, c.Options, config, without(c.victim.stream, c.victim.outside), asked)
	if err != nil {
		return err
	}
	c.report.Erasures = append(c.report.Erasures, seen.erasures...)
	c.Progress("scope %s: attacking", scope)
	ensembles := make([]*ensemble, len(seen.versions))
	versions := make([]answers, len(seen.versions))
	for i, p := range seen.versions {
		ensembles[i] = &ensemble{engine: engine, config: c.Config.Scoring, models: p.models}
		if versions[i], err = ensembles[i].askTargets(ctx, c.secret, c.victim); err != nil {
			return err
		}
	}
	if err := c.membership(scope, shadow, newView(c.victim, versions)); err != nil {
		return err
	}
	if err := c.edges(ctx, scope, ensembles[0], ensembles[len(ensembles)-1]); err != nil {
		return err
	}
	return c.residue(scope, seen.versions[0], seen.versions[len(seen.versions)-1])
}

// membership runs the attacks on posteriors.
func (c *campaign) membership(scope lethe.Scope, shadow, victim *view) error {
	learners := learners()
	single, err := classical(learners[0])(shadow, victim.unchanged())
	if err != nil {
		return err
	}
	for _, a := range membershipAttacks(learners) {
		control := c.overfit
		if a.adversary == UnlearnedModel {
			// An erasure that does nothing: the models still hold the members.
			control = control.unchanged()
		}
		f := Finding{Attack: a.name, Adversary: a.adversary, Scope: scope, Samples: len(victim.targets)}
		var scores []float64
		if scores, f.Result, f.resultCurve, err = a.measure(shadow, victim); err != nil {
			return err
		}
		if _, f.Control, f.controlCurve, err = a.measure(c.overfitShadow, control); err != nil {
			return err
		}
		if a.adversary == UnlearnedModel {
			_, before, _, err := a.measure(shadow, victim.unchanged())
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

// measure runs the attack and estimates its area.
func (a membershipAttack) measure(shadow, victim *view) (scores []float64, m Measured, curve []roc.Point, err error) {
	if scores, err = a.score(shadow, victim); err == nil {
		m, curve, err = measure(scores, victim.isMember())
	}
	return scores, m, curve, err
}

// edges runs the attacks on former payments. The control asks the models of
// before, on the graph with the members in it. Afterwards the attacker puts the
// record in question beside the graph that is left, without payments.
func (c *campaign) edges(ctx context.Context, scope lethe.Scope, first, last *ensemble) error {
	held, err := first.ask(ctx, graphs(c.secret, c.victim.stream, c.victim.outside))
	if err != nil {
		return err
	}
	left, err := last.ask(ctx, graphs(c.secret, c.victim.stream, c.victim.gone))
	if err != nil {
		return err
	}
	members, outsiders := c.victim.pairsOf(true, c.Seed), c.victim.pairsOf(false, c.Seed)
	for _, a := range edgeAttacks() {
		f := Finding{Attack: a.name, Adversary: ModelAndGraph, Scope: scope, Samples: len(members), NeverHeld: &Measured{}}
		if f.Control, f.controlCurve, err = c.measureClusters(a.score(members, held)); err != nil {
			return fmt.Errorf("payments of members: %w", err)
		}
		if f.Result, f.resultCurve, err = c.measureClusters(a.score(members, left)); err != nil {
			return fmt.Errorf("payments of members: %w", err)
		}
		if *f.NeverHeld, _, err = c.measureClusters(a.score(outsiders, left)); err != nil {
			return fmt.Errorf("payments of outsiders: %w", err)
		}
		c.report.Findings = append(c.report.Findings, f)
	}
	return nil
}

// residue compares slices with the graph that is left; the control's slices are
// those of before.
func (c *campaign) residue(scope lethe.Scope, first, last *published) error {
	f := Finding{Attack: "degree-residue", Adversary: SlicesAndGraph, Scope: scope}
	for _, side := range []struct {
		from  *published
		to    *Measured
		curve *[]roc.Point
	}{{first, &f.Control, &f.controlCurve}, {last, &f.Result, &f.resultCurve}} {
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
	curve := roc.Curve(scores, positive)
	return Measured{estimate: e, CertainShare: roc.CertainShare(curve)}, curve, nil
}

// measureClusters estimates an area over samples that depend on each other.
func (c *campaign) measureClusters(samples []roc.Sample) (Measured, []roc.Point, error) {
	e, err := roc.Bootstrap(samples, c.Seed)
	if err != nil {
		return Measured{}, nil, err
	}
	curve := roc.Curve(unzip(samples))
	return Measured{estimate: e, CertainShare: roc.CertainShare(curve)}, curve, nil
}

func unzip(samples []roc.Sample) (scores []float64, positive []bool) {
	for _, s := range samples {
		scores, positive = append(scores, s.Score), append(positive, s.Positive)
	}
	return scores, positive
}
