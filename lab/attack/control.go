package attack

import (
	"context"

	"lethe"
	"lethe/configs"
	"lethe/partition"
	"lethe/scoring"
	"lethe/trainer"
)

// overfitHidden is wide enough to memorise wrong labels.
const overfitHidden = 64

// overfitted is the configuration of the positive control: one model for all,
// trained on everything at once until it has memorised it.
func (c *campaign) overfitted() configs.Config {
	out := c.Config
	out.Partition.Shards, out.Partition.Method = 1, partition.MethodRandom
	out.Scoring.Aggregation = scoring.MethodMean
	out.Trainer.Schedule = trainer.Window
	out.Trainer.WindowTimesteps = max(len(c.victim.stream.Steps), len(c.shadow.stream.Steps))
	out.Trainer.Passes = c.OverfitPasses
	out.Trainer.Hidden = overfitHidden
	out.Trainer.WeightDecay = 0
	return out
}

// controls trains overfitted models of both scenarios through all erasures. Their
// targets have wrong labels, which cannot be learnt from the other transactions.
func (c *campaign) controls(ctx context.Context, victim, shadow *scenario) (err error) {
	say := func(whose string) func(done, of int) {
		return func(done, of int) {
			c.Progress("positive control: %d of %d models overfitted to %s data", done, of, whose)
		}
	}
	if c.overfit, _, err = c.inReplica(ctx, c.overfitted(), victim, lethe.ScopeStubs,
		say("the deployment's")); err != nil {
		return err
	}
	c.overfitShadow, _, err = c.inReplica(ctx, c.overfitted(), shadow, lethe.ScopeStubs, say("the attacker's"))
	return err
}

// inReplica trains a scenario in memory, before any erasure and after each. It
// returns the engine too, which can query any model.
func (c *campaign) inReplica(
	ctx context.Context, config configs.Config, sc *scenario, scope lethe.Scope, progress func(done, of int),
) (*view, *trainer.Engine, error) {
	deployed, err := newReplica(ctx, config, c.secret, without(sc.stream, sc.outside))
	if err != nil {
		return nil, nil, err
	}
	var versions []answers
	for r := 0; ; r++ {
		progress(r, sc.requests+1)
		trained, err := deployed.train(ctx)
		if err != nil {
			return nil, nil, err
		}
		o := newOracle(deployed.runner.Engine(0), trained.Models)
		a, err := o.askTargets(ctx, c.secret, sc)
		if err != nil {
			return nil, nil, err
		}
		if versions = append(versions, a); r == sc.requests {
			return newView(sc, versions), deployed.runner.Engine(0), nil
		}
		if deployed, err = deployed.erase(ctx, scope, sc.members[r]); err != nil {
			return nil, nil, err
		}
	}
}
