package coordinator

import (
	"context"
	"fmt"
	"slices"

	"lethe"
	"lethe/deletions"
	"lethe/internal/sortedset"
)

// plan tells what a batch will change.
func (o *Options) plan(ctx context.Context, b batch, requests [][]lethe.Target) ([]Plan, error) {
	for i, e := range b.members {
		if err := o.Graphs.Adopt(ctx, requests[i], e.Progress.Carried); err != nil {
			return nil, err
		}
	}
	plans, err := o.Graphs.Plan(ctx, requests, b.members[0].Scope)
	if err == nil && b.members[0].Scope == lethe.ScopePartition {
		err = o.addAfresh(ctx, b, plans)
	}
	if err == nil {
		err = o.addUnlearnt(b, plans)
	}
	return plans, err
}

// addUnlearnt adds to the plans of requests that were asked for because a backup was put back what others have changed
// there that ended thereby: the graphs hold nothing of their targets any more, and the models may not have learnt that.
// Others may have rewritten some of the timesteps since, with other slices.
func (o *Options) addUnlearnt(b batch, plans []Plan) error {
	for i, e := range b.members {
		ended, err := o.endedBefore(e)
		if err != nil {
			return err
		}
		for _, other := range ended {
			for _, step := range o.Graphs.Steps(batch{members: []deletions.Entry{other}}.replaced()) {
				if !step.Settled && !step.Gone {
					step.Shards = nil // what it will settle as is without the targets
				}
				plans[i].add(Replaced{Timestep: step.Timestep, Shards: step.Shards, Anew: true})
			}
		}
	}
	return nil
}

// endedBefore are the requests that have ended because a backup was put back, in whose place another one is, as far as
// models may not have learnt yet what they have changed.
func (o *Options) endedBefore(e deletions.Entry) (ended []deletions.Entry, err error) {
	for _, id := range o.Restored.UnlearntFor(e.RequestID) {
		other, err := o.Ledger.Get(id)
		if err != nil {
			return nil, fmt.Errorf("request %s, ended by a restore: %w", id, err)
		}
		if meet(other, e) {
			ended = append(ended, other)
		}
	}
	return ended, nil
}

// add adds slices to those that a plan changes.
func (p *Plan) add(r Replaced) {
	if known := p.changes(r.Timestep); known != nil {
		known.Shards, known.Anew = sortedset.Add(slices.Clone(known.Shards), r.Shards...), known.Anew || r.Anew
		return
	}
	p.Steps = append(p.Steps, StepPlan{Replaced: r})
}

// addAfresh adds to the plans of a batch at scope partition the timesteps of which an
// earlier request has erased a target at another scope: the others were left in their shards
// then, and are dealt afresh now. Otherwise a request whose target is erased already would
// promise what was not done. So are those that the request has rewritten in whose place one is:
// another one may have taken something out of them since.
func (o *Options) addAfresh(ctx context.Context, b batch, plans []Plan) error {
	list, err := o.Ledger.List()
	if err != nil {
		return err
	}
	wanted := make([][]lethe.Timestep, len(plans))
	var unplanned []lethe.Timestep
	for i, e := range b.members {
		ended, err := o.endedBefore(e)
		if err != nil {
			return err
		}
		wanted[i] = keptShards(list, e)
		for _, other := range ended {
			wanted[i] = sortedset.Add(wanted[i], other.Progress.Timesteps...)
		}
		for _, t := range wanted[i] {
			if !slices.ContainsFunc(plans, func(p Plan) bool { return p.changes(t) != nil }) {
				unplanned = sortedset.Add(unplanned, t)
			}
		}
	}
	var known []Replaced
	if len(unplanned) > 0 {
		if known, err = o.Graphs.PlanAfresh(ctx, unplanned); err != nil {
			return err
		}
	}
	for _, p := range plans {
		for _, step := range p.Steps {
			known = append(known, step.Replaced)
		}
	}
	for i := range plans {
		for _, r := range known {
			if slices.Contains(wanted[i], r.Timestep) && plans[i].changes(r.Timestep) == nil {
				plans[i].Steps = append(plans[i].Steps, StepPlan{Replaced: r})
			}
		}
	}
	return nil
}

// changes returns what a plan changes in a timestep, or nil.
func (p *Plan) changes(t lethe.Timestep) *StepPlan {
	for i := range p.Steps {
		if p.Steps[i].Timestep == t {
			return &p.Steps[i]
		}
	}
	return nil
}

// keptShards are the timesteps in which requests at other scopes than partition have left
// the others where they were, ascending, as far as they name a target of one request.
func keptShards(list []deletions.Entry, one deletions.Entry) (out []lethe.Timestep) {
	for _, e := range list {
		shares := meet(e, one)
		if shares && e.Scope != lethe.ScopePartition {
			out = sortedset.Add(out, e.Progress.Timesteps...)
		}
	}
	return out
}

// planned are the timesteps that plans change, and that were planned before.
func planned(b batch, plans []Plan) (out []lethe.Timestep) {
	for _, e := range b.members {
		out = append(out, e.Progress.Timesteps...)
	}
	for _, plan := range plans {
		for _, step := range plan.Steps {
			out = append(out, step.Timestep)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// replacedBy lists what a batch rewrites, as it is noted, and of which of that its plans say that it is to be published
// anew.
func replacedBy(b batch, plans []Plan) []Replaced {
	list := b.replaced()
	for i := range list {
		for _, p := range plans {
			step := p.changes(list[i].Timestep)
			list[i].Anew = list[i].Anew || step != nil && step.Anew
		}
	}
	return list
}

// distinct are the targets of several requests, each once.
func distinct(requests [][]lethe.Target) []lethe.Target {
	return lethe.Distinct(slices.Concat(requests...))
}

// Plan tells what a request for some targets would change now, and changes nothing. Errors:
// lethe.ErrTarget, and those of the stores.
func (c *Coordinator) Plan(ctx context.Context, targets []lethe.Target, scope lethe.Scope) (Plan, error) {
	asked := deletions.Entry{Scope: scope}
	if err := lethe.CheckTargets(targets); err != nil {
		return Plan{}, err
	}
	for _, t := range targets {
		asked.Targets = append(asked.Targets, c.states.o.Secret.Suppressed(t))
	}
	plans, err := c.states.o.plan(ctx, batch{members: []deletions.Entry{asked}}, [][]lethe.Target{targets})
	if err != nil {
		return Plan{}, err
	}
	return plans[0], nil
}
