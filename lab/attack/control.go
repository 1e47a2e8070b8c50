package attack

import (
	"context"

	"lethe"
	"lethe/configs"
	"lethe/partition"
	"lethe/scoring"
	"lethe/trainer"
)

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
		trained, err := l.train(ctx)
		if err != nil {
			return nil, nil, err
		}
		o, err := newOracle(l.runner.Engine, config.Scoring, trained.Models)
		if err != nil {
			return nil, nil, err
		}
		a, err := o.askTargets(ctx, c.secret, w)
		if err != nil {
			return nil, nil, err
		}
		if versions = append(versions, a); r == w.requests {
			return newView(w, versions), l.runner.Engine, nil
		}
		if l, err = l.erase(scope, w.members[r]); err != nil {
			return nil, nil, err
		}
	}
}
