package attack

import (
	"context"
	"fmt"

	"lethe"
	"lethe/lab/attack/roc"
)

// membership runs the attacks on posteriors.
func (c *campaign) membership(scope lethe.Scope, shadow, victim *view) error {
	single, err := classical(c.learners[0])(shadow, victim.unchanged())
	if err != nil {
		return err
	}
	for _, a := range membershipAttacks(c.learners) {
		control := c.overfit
		if a.adversary == UnlearnedModel {
			// An erasure that does nothing: the models still hold the members.
			control = control.unchanged()
		}
		f := Finding{Attack: a.name, Adversary: a.adversary, Scope: scope, Samples: len(victim.targets)}
		var scores []float64
		if scores, f.Result, err = a.measure(shadow, victim); err != nil {
			return err
		}
		if _, f.Control, err = a.measure(c.overfitShadow, control); err != nil {
			return err
		}
		if a.adversary == UnlearnedModel {
			_, before, err := a.measure(shadow, victim.unchanged())
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
func (a membershipAttack) measure(shadow, victim *view) (scores []float64, m Measured, err error) {
	if scores, err = a.score(shadow, victim); err == nil {
		m, err = measure(scores, victim.isMember())
	}
	return scores, m, err
}

// edges runs the attacks on former payments. The control asks the models of
// before, on the graph with the members in it. Afterwards the attacker puts the
// record in question next to the graph that is left, without payments.
func (c *campaign) edges(ctx context.Context, scope lethe.Scope, first, last *oracle) error {
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
		if f.Control, err = c.measureClusters(a.score(members, held)); err != nil {
			return fmt.Errorf("payments of members: %w", err)
		}
		if f.Result, err = c.measureClusters(a.score(members, left)); err != nil {
			return fmt.Errorf("payments of members: %w", err)
		}
		if *f.NeverHeld, err = c.measureClusters(a.score(outsiders, left)); err != nil {
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
		from *published
		to   *Measured
	}{{first, &f.Control}, {last, &f.Result}} {
		samples, err := residue(c.victim, c.secret, side.from.slices)
		if err != nil {
			return err
		}
		f.Samples = len(samples)
		if *side.to, err = measure(unzip(samples)); err != nil {
			return fmt.Errorf("neighbours of members: %w", err)
		}
	}
	c.report.Findings = append(c.report.Findings, f)
	return nil
}

// measure estimates an area over independent samples.
func measure(scores []float64, positive []bool) (Measured, error) {
	e, err := roc.DeLong(scores, positive)
	if err != nil {
		return Measured{}, err
	}
	curve := roc.Curve(scores, positive)
	return Measured{estimate: e, CertainShare: roc.CertainShare(curve), curve: curve}, nil
}

// measureClusters does so over samples that depend on each other.
func (c *campaign) measureClusters(samples []roc.Sample) (Measured, error) {
	m, err := measure(unzip(samples))
	if err != nil {
		return Measured{}, err
	}
	m.estimate, err = roc.Bootstrap(samples, c.Seed)
	return m, err
}

func unzip(samples []roc.Sample) (scores []float64, positive []bool) {
	for _, s := range samples {
		scores, positive = append(scores, s.Score), append(positive, s.Positive)
	}
	return scores, positive
}
