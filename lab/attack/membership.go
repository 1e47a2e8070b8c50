package attack

import (
	"math"
	"slices"

	"lethe"
)

// view is what the attacker has of one scenario: what the models said of the
// targets before the first erasure and after the last one, and right before and
// right after the one that a target belongs to.
type view struct {
	*scenario
	first, last   answers
	before, after answers
}

// newView puts together the answers of all versions, the one before any erasure
// and one after each.
func newView(sc *scenario, versions []answers) *view {
	v := &view{
		scenario: sc, first: versions[0], last: versions[len(versions)-1],
		before: make(answers), after: make(answers),
	}
	for _, t := range sc.targets {
		v.before[t.id], v.after[t.id] = versions[t.request][t.id], versions[t.request+1][t.id]
	}
	return v
}

// unchanged is the view when the erasures did nothing.
func (v *view) unchanged() *view {
	return newView(v.scenario, slices.Repeat([]answers{v.first}, v.requests+1))
}

// membershipAttack scores the victim's targets: higher means member. It may
// learn from its own shadow, where it knows the members.
type membershipAttack struct {
	name      string
	adversary Adversary
	score     func(shadow, victim *view) ([]float64, error)
}

// l2Distance is the one attack on both versions that learns nothing.
const l2Distance = "l2-distance"

// membershipAttacks lists the attacks on the unlearned models, then those on
// both versions.
func membershipAttacks(learners []learner) []membershipAttack {
	out := []membershipAttack{{"loss-threshold", UnlearnedModel, direct(func(v *view, t target) float64 {
		return -v.last.loss(t)
	})}}
	for _, l := range learners {
		out = append(out, membershipAttack{"shadow-" + l.name, UnlearnedModel, classical(l)})
	}
	out = append(out, membershipAttack{l2Distance, BothVersions, direct(func(v *view, t target) float64 {
		return euclidean(v.before.posterior(t.id), v.after.posterior(t.id))
	})})
	for _, f := range features() {
		for _, l := range learners {
			out = append(out, membershipAttack{"chen-" + f.name + "-" + l.name, BothVersions, trained(l, versionsOf(f))})
		}
	}
	return out
}

// each computes something for every target of a view.
func each[T any](v *view, of func(*view, target) T) []T {
	out := make([]T, len(v.targets))
	for i, t := range v.targets {
		out[i] = of(v, t)
	}
	return out
}

// direct scores the victim's targets without learning.
func direct(score func(*view, target) float64) func(shadow, victim *view) ([]float64, error) {
	return func(_, victim *view) ([]float64, error) { return each(victim, score), nil }
}

// loss is the cross entropy of a target's true label.
func (a answers) loss(t target) float64 {
	p := a.posterior(t.id)[0]
	if t.label == lethe.Illicit {
		p = 1 - p
	}
	return -math.Log(max(p, math.SmallestNonzeroFloat32))
}

// single is what a trained attack on one model sees of a target.
func (a answers) single(t target) []float64 {
	p := a.posterior(t.id)
	return []float64{a.loss(t), math.Exp(-a.loss(t)), max(p[0], p[1])}
}

// classical trains on the shadow's models that hold its members, and judges the
// victim's unlearned ones.
func classical(l learner) func(shadow, victim *view) ([]float64, error) {
	return func(shadow, victim *view) ([]float64, error) {
		return trained(l, func(v *view, t target) []float64 { return v.last.single(t) })(shadow.unchanged(), victim)
	}
}

// versionsOf sees a target's posteriors by both versions.
func versionsOf(f feature) func(*view, target) []float64 {
	return func(v *view, t target) []float64 {
		return f.of(v.before.posterior(t.id), v.after.posterior(t.id))
	}
}

// trained learns from the shadow's targets and judges the victim's.
func trained(l learner, sample func(*view, target) []float64) func(shadow, victim *view) ([]float64, error) {
	return func(shadow, victim *view) ([]float64, error) {
		return l.judge(each(shadow, sample), shadow.isMember(), each(victim, sample))
	}
}

// degradation compares the two-version attack with the classical one on the
// models that hold the members, target by target (Chen et al. 2021, section
// 3.3): count is the share of targets of which the first is the surer in the
// right direction, rate by how much on average.
func degradation(member []bool, twoVersions, single []float64) (count, rate float64) {
	for i, m := range member {
		gain := twoVersions[i] - single[i]
		if !m {
			gain = -gain
		}
		if gain > 0 {
			count++
		}
		rate += gain
	}
	n := float64(len(member))
	return count / n, rate / n
}
