package erase

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"lethe"
	"lethe/deletions"
	"lethe/deletions/coordinator"
	"lethe/deletions/scan"
	"lethe/internal/sortedset"
	"lethe/pipeline/graphs/cutting"
	"lethe/pipeline/graphs/publish"
	"lethe/snapshot"
)

// planner plans erasures.
type planner struct {
	Carriers
	publisher     *publish.Publisher
	repartitioner *repartitioner
	forms         forms
}

// Plan implements coordinator.Graphs. All targets are located together and each timestep is loaded once. It is cut
// with all data, without all targets and, for several requests, without those of each; at scope partition it is
// partitioned once.
func (e *planner) Plan(
	ctx context.Context, requests [][]lethe.Target, scope lethe.Scope,
) ([]coordinator.Plan, error) {
	plans := make([]coordinator.Plan, len(requests))
	if err := lethe.CheckTargets(slices.Concat(requests...)); err != nil {
		return nil, err
	}
	wider, err := e.withCarried(plans, requests)
	if err != nil {
		return nil, err
	}
	for i := range plans {
		plans[i].Gone = e.goneOf(wider[i], len(requests[i]))
	}
	targets, positions := joined(wider)
	located, err := e.Store.Locate(targets)
	if err != nil {
		return nil, err
	}
	gone := make(map[lethe.Timestep][][]snapshot.Located)
	for i, own := range positions {
		for k, at := range own {
			l := located[at]
			if k < len(requests[i]) {
				plans[i].Held = append(plans[i].Held, l.Known || l.Named)
			}
			if l.Known && l.Kind != lethe.SubjectTarget {
				plans[i].Kept++
			}
			if l.Known && l.State > lethe.Open {
				if gone[l.Timestep] == nil {
					gone[l.Timestep] = make([][]snapshot.Located, len(requests))
				}
				gone[l.Timestep][i] = append(gone[l.Timestep][i], l)
			}
			if err := e.forms.staged(&plans[i], l); err != nil {
				return nil, err
			}
		}
	}
	if err := e.planTimesteps(ctx, plans, gone, scope); err != nil {
		return nil, err
	}
	for i := range plans {
		slices.SortFunc(plans[i].Steps, func(a, b coordinator.StepPlan) int { return cmp.Compare(a.Timestep, b.Timestep) })
	}
	return plans, nil
}

// joined are the distinct targets of several requests, and the positions of each request's targets in them.
func joined(requests [][]lethe.Target) (targets []lethe.Target, positions [][]int) {
	at := make(map[lethe.TargetName]int)
	positions = make([][]int, len(requests))
	for i, own := range requests {
		for _, t := range own {
			name := t.Name()
			if _, known := at[name]; !known {
				at[name] = len(targets)
				targets = append(targets, t)
			}
			positions[i] = append(positions[i], at[name])
		}
	}
	return targets, positions
}

// withCarried returns the targets of requests and the carriers of their subjects, which a plan treats as targets.
func (e *planner) withCarried(plans []coordinator.Plan, requests [][]lethe.Target) ([][]lethe.Target, error) {
	out := make([][]lethe.Target, len(requests))
	for i, own := range requests {
		carried, _, err := e.Carried(own)
		if err != nil {
			return nil, err
		}
		out[i] = lethe.Distinct(slices.Concat(own, carried))
		for _, t := range out[i][len(own):] {
			found, notSearched, err := scan.TargetFingerprints(e.Secret, t)
			spelled, unsearched, more := scan.SpelledFingerprints(e.Secret, e.Names, t)
			if err = errors.Join(err, more); err != nil {
				return nil, err
			}
			plans[i].Fingerprints = slices.Concat(plans[i].Fingerprints, found, spelled)
			plans[i].NotSearched = sortedset.Add(plans[i].NotSearched, append(notSearched, unsearched...)...)
		}
	}
	return out, nil
}

// goneOf returns the data that a plan deletes besides the named targets: carriers of subjects, and features.
func (e *planner) goneOf(targets []lethe.Target, named int) (gone deletions.Gone) {
	for i, t := range targets {
		switch {
		case t.Kind == lethe.FeaturesTarget:
			var columns []int
			for k := range e.Store.Marks().FeatureCount() { // behind these a slice has means of neighbours
				if t.Columns.Hold(k) {
					columns = append(columns, k)
				}
			}
			of := e.Secret.Pseudonym(t.Transaction)
			gone.Features = append(gone.Features, deletions.GoneFeatures{Of: of, Columns: columns})
		case i >= named && t.Kind == lethe.TransactionTarget:
			gone.Transactions = append(gone.Transactions, e.Secret.Pseudonym(t.Transaction))
		}
	}
	return gone
}

// share is a request's part of the changes of a closed timestep, with its forms.
type share struct {
	request int
	coordinator.Plan
	step coordinator.StepPlan
	// emptied is the timestep if it becomes empty.
	emptied *snapshot.Info
}

// planTimesteps adds the changes of closed timesteps. gone are the targets of each request there. Timesteps are read
// one after the other, and cut concurrently.
func (e *planner) planTimesteps(
	ctx context.Context, plans []coordinator.Plan, gone map[lethe.Timestep][][]snapshot.Located, scope lethe.Scope,
) (err error) {
	order := slices.Sorted(maps.Keys(gone))
	shares, working := make([][]share, len(order)), cutting.SideBySide()
	for i, t := range order {
		var content *snapshot.Content
		if content, err = e.Store.Load(t); err != nil {
			break
		}
		working.Go(func() (err error) {
			if shares[i], err = e.planTimestep(ctx, content, gone[t], scope); err != nil {
				err = fmt.Errorf("timestep %d: %w", t, err)
			}
			return err
		})
	}
	if err := errors.Join(working.Wait(), err); err != nil {
		return err
	}
	for _, own := range slices.Concat(shares...) {
		plan := &plans[own.request]
		plan.Fingerprints, plan.Rows = append(plan.Fingerprints, own.Fingerprints...), append(plan.Rows, own.Rows...)
		plan.NotSearched = sortedset.Add(plan.NotSearched, own.NotSearched...)
		plan.Records = append(plan.Records, own.Records...)
		plan.Gone.Add(own.Gone)
		if own.emptied != nil {
			e.planGone(plan, own.step, *own.emptied)
			continue
		}
		plan.Steps = mergeStep(plan.Steps, own.step)
	}
	return nil
}

// planTimestep returns each request's changes of a timestep. It is called concurrently.
func (e *planner) planTimestep(
	ctx context.Context, content *snapshot.Content, gone [][]snapshot.Located, scope lethe.Scope,
) (out []share, err error) {
	all := positionsOf(content.Snapshot, transactionsAmong(slices.Concat(gone...)))
	forms, err := scan.NodeFingerprints(e.Secret, content.Snapshot, all)
	if err != nil {
		return nil, err
	}
	removals := make([]lethe.Removal, len(gone))
	for i, own := range gone {
		removals[i] = snapshot.RemovalOf(own)
	}
	var emptied *snapshot.Info
	changed := make([][]lethe.ShardID, len(gone))
	switch {
	case len(all) > 0 && len(all) == len(content.Snapshot.Nodes):
		emptied = new(content.Info)
	case scope == lethe.ScopePartition:
		changed, err = e.repartitioner.changed(ctx, content, removals)
	default:
		changed, err = affected(e.publisher.Cutter.Cut, content, removals, scope)
	}
	if err != nil {
		return nil, err
	}
	before := cutEdges(content)
	joins := joins(e.publisher.Cutter.Cut, content.Snapshot, removals, scope)
	for i, every := range gone {
		if len(every) == 0 {
			continue
		}
		own, s := transactionsAmong(every), share{request: i, emptied: emptied}
		if err := e.forms.closed(&s.Plan, content.Snapshot, own, func(node int) scan.Forms {
			at, _ := slices.BinarySearch(all, node)
			return forms[at]
		}); err != nil {
			return nil, err
		}
		if err := e.forms.redacted(&s.Plan, content.Snapshot, every); err != nil {
			return nil, err
		}
		s.Records = recordsOf(content.Snapshot, removals[i])
		s.Gone = joins[i]
		s.step = count(content, removals[i], before)
		if s.step.Shards = changed[i]; scope == lethe.ScopeShard && emptied == nil {
			nodes := positionsOf(content.Snapshot, own)
			s.step.Kept = keptStubs(content, nodes, sortedset.Of(slices.Concat(changed...)))
		}
		out = append(out, s)
	}
	return out, nil
}

// planGone adds the deletion of an empty timestep; the closed one after it gets another predecessor. All slices of both
// change.
func (e *planner) planGone(plan *coordinator.Plan, step coordinator.StepPlan, info snapshot.Info) {
	all := e.publisher.Cutter.All()
	if info.State == lethe.Settled {
		step.Shards = all
	}
	plan.Steps = mergeStep(plan.Steps, step)
	for _, next := range e.Store.Timesteps() {
		if next.Timestep <= info.Timestep || next.State == lethe.Open {
			continue
		}
		relinked := coordinator.StepPlan{Replaced: coordinator.Replaced{Timestep: next.Timestep}}
		if next.State == lethe.Settled {
			relinked.Shards = all
		}
		plan.Steps = mergeStep(plan.Steps, relinked)
		return
	}
}

// mergeStep adds a step to a plan, merging it with one of the same timestep.
func mergeStep(steps []coordinator.StepPlan, step coordinator.StepPlan) []coordinator.StepPlan {
	for i, s := range steps {
		if s.Timestep == step.Timestep {
			step.Shards = sortedset.Add(slices.Clone(s.Shards), step.Shards...)
			steps[i] = step
			return steps
		}
	}
	return append(steps, step)
}

// PlanRepartition implements coordinator.Graphs.
func (e *planner) PlanRepartition(
	ctx context.Context, timesteps []lethe.Timestep,
) (out []coordinator.Replaced, err error) {
	for _, t := range timesteps {
		if e.Store.Info(t).State != lethe.Settled {
			continue
		}
		content, err := e.Store.Load(t)
		if err != nil {
			return nil, err
		}
		shards, err := e.repartitioner.replaced(ctx, content.Snapshot, content.Info)
		if err != nil {
			return nil, fmt.Errorf("timestep %d: %w", t, err)
		}
		if len(shards) > 0 {
			out = append(out, coordinator.Replaced{Timestep: t, Shards: shards})
		}
	}
	return out, nil
}
