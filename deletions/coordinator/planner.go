package coordinator

import (
	"context"
	"fmt"
	"slices"

	"lethe"
	"lethe/deletions"
	"lethe/deletions/batch"
	"lethe/internal/sortedset"
)

// plan returns the changes of a batch.
func (o *Options) plan(ctx context.Context, b batch.Batch, requests [][]lethe.Target) ([]Plan, error) {
	for i, e := range b.Members {
		if err := o.Graphs.Adopt(ctx, requests[i], e.Progress.Carried); err != nil {
			return nil, err
		}
	}
	plans, err := o.Graphs.Plan(ctx, requests, b.Members[0].Scope)
	if err == nil && b.Members[0].Scope == lethe.ScopePartition {
		err = o.addRepartitioned(ctx, b, plans)
	}
	if err == nil {
		err = o.addUnlearnt(b, plans)
	}
	return plans, err
}

// addUnlearnt adds, to requests made at a restore, the slices changed by requests that the restore ended: the graphs
// no longer hold their targets, but models may not have learnt that.
func (o *Options) addUnlearnt(b batch.Batch, plans []Plan) error {
	for i, e := range b.Members {
		ended, err := o.endedBefore(e)
		if err != nil {
			return err
		}
		for _, other := range ended {
			for _, step := range o.Graphs.Steps(replaced(batch.Of(other))) {
				if !step.Settled && !step.Gone {
					step.Shards = nil // these slices will be cut without the targets
				}
				plans[i].add(Replaced{Timestep: step.Timestep, Shards: step.Shards, Renewed: true})
			}
		}
	}
	return nil
}

// endedBefore are the requests ended by the restore that a request replaces, as far as models may not have learnt
// them.
func (o *Options) endedBefore(e deletions.Entry) (ended []deletions.Entry, err error) {
	for _, id := range o.Restored.UnlearntFor(e.RequestID) {
		other, err := o.Ledger.Get(id)
		if err != nil {
			return nil, fmt.Errorf("request %s, ended by a restore: %w", id, err)
		}
		if batch.Meet(other, e) {
			ended = append(ended, other)
		}
	}
	return ended, nil
}

func (p *Plan) add(r Replaced) {
	if known := p.changes(r.Timestep); known != nil {
		known.Shards, known.Renewed = sortedset.Add(slices.Clone(known.Shards), r.Shards...), known.Renewed || r.Renewed
		return
	}
	p.Steps = append(p.Steps, StepPlan{Replaced: r})
}

// addRepartitioned adds, at scope partition, the timesteps in which an earlier request at another scope erased a shared
// target, and those of requests it replaces after a restore: their other transactions kept their shards, and must be
// assigned again.
func (o *Options) addRepartitioned(ctx context.Context, b batch.Batch, plans []Plan) error {
	list, err := o.Ledger.List()
	if err != nil {
		return err
	}
	wanted := make([][]lethe.Timestep, len(plans))
	var unplanned []lethe.Timestep
	for i, e := range b.Members {
		ended, err := o.endedBefore(e)
		if err != nil {
			return err
		}
		for _, other := range list {
			if other.Scope != lethe.ScopePartition && batch.Meet(other, e) {
				ended = append(ended, other)
			}
		}
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
		if known, err = o.Graphs.PlanRepartition(ctx, unplanned); err != nil {
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

// changes returns the changes of a timestep, or nil.
func (p *Plan) changes(t lethe.Timestep) *StepPlan {
	for i := range p.Steps {
		if p.Steps[i].Timestep == t {
			return &p.Steps[i]
		}
	}
	return nil
}

// planned are the timesteps of plans, and those recorded before.
func planned(b batch.Batch, plans []Plan) (out []lethe.Timestep) {
	for _, e := range b.Members {
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

// replaced lists the timesteps that a batch rewrites, as recorded.
func replaced(b batch.Batch) []Replaced {
	byTimestep := make(map[lethe.Timestep]*Replaced)
	var timesteps []lethe.Timestep
	for _, e := range b.Members {
		for i, t := range e.Progress.Timesteps {
			if byTimestep[t] == nil {
				byTimestep[t] = &Replaced{Timestep: t, Repartitioned: e.Scope == lethe.ScopePartition}
				timesteps = sortedset.Add(timesteps, t)
			}
			if i < len(e.Progress.Revisions) {
				byTimestep[t].Revision = max(byTimestep[t].Revision, e.Progress.Revisions[i])
			}
		}
		for _, ref := range e.Progress.Slices {
			r := byTimestep[ref.Timestep]
			r.Shards = sortedset.Add(r.Shards, ref.Shard)
		}
	}
	out := make([]Replaced, len(timesteps))
	for i, t := range timesteps {
		out[i] = *byTimestep[t]
	}
	return out
}

// replacedBy lists the timesteps that a batch rewrites, and those that its plans publish again.
func replacedBy(b batch.Batch, plans []Plan) []Replaced {
	list := replaced(b)
	for i := range list {
		for _, p := range plans {
			step := p.changes(list[i].Timestep)
			list[i].Renewed = list[i].Renewed || step != nil && step.Renewed
		}
	}
	return list
}
