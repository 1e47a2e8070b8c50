package graphs

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
	"lethe/snapshot"
	"lethe/snapshot/index"
)

// Plan implements coordinator.Graphs. All targets are located together and every
// timestep is loaded once. It is cut once as it is, once without all of them and, if
// they are of several requests, once for each; at scope partition once, afresh.
func (e *eraser) Plan(
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
	located, err := e.store.Locate(targets)
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
			if err := e.planStaged(&plans[i], l); err != nil {
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

// joined are the targets of several requests, each once, and where in them each
// request finds its own.
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

// planStaged adds the row of a target that is in no graph yet, and the keys of a payment or
// subject.
func (e *eraser) planStaged(plan *coordinator.Plan, l snapshot.Located) error {
	kind := scan.KindPaymentPseudonyms
	if l.Kind == lethe.SubjectTarget {
		kind = scan.KindSubjectIndex
	}
	keys, err := scan.KeyFingerprints(e.secret, kind, l.Keys)
	if err != nil {
		return err
	}
	plan.Fingerprints = append(plan.Fingerprints, keys...)
	switch {
	case l.Row == nil:
		return nil
	case l.Shared:
		plan.NotSearched = sortedset.Add(plan.NotSearched, scan.KindFeatures, scan.KindFeaturesText)
		return nil
	}
	prints, err := scan.RowFingerprints(e.secret, l.Row)
	if err != nil {
		return err
	}
	e.planFeatures(plan, l.Row, prints)
	return nil
}

// planFeatures adds the forms of a row.
func (e *eraser) planFeatures(plan *coordinator.Plan, row []float32, prints []scan.Fingerprint) {
	if len(prints) == 0 {
		return
	}
	forms := deletions.RowForms{Content: scan.MAC(index.ContentOf(e.secret, row))}
	for _, f := range prints {
		forms.Forms = append(forms.Forms, f.MAC)
	}
	plan.Fingerprints = append(plan.Fingerprints, prints...)
	plan.Rows = append(plan.Rows, forms)
}

// share is what a request changes in a closed timestep, and what to search for of that.
type share struct {
	request int
	coordinator.Plan
	step coordinator.StepPlan
	// emptied is the timestep if nothing is left of it.
	emptied *snapshot.Info
}

// planTimesteps adds what the erasure will change in closed timesteps. gone are the targets of each
// request there. Timesteps are read one after the other, and cut side by side.
func (e *eraser) planTimesteps(
	ctx context.Context, plans []coordinator.Plan, gone map[lethe.Timestep][][]snapshot.Located, scope lethe.Scope,
) (err error) {
	order := slices.Sorted(maps.Keys(gone))
	shares, working := make([][]share, len(order)), newSideBySide()
	for i, t := range order {
		var content *snapshot.Content
		if content, err = e.store.Load(t); err != nil {
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

// planTimestep tells what each request changes in a timestep. It is called side by side.
func (e *eraser) planTimestep(
	ctx context.Context, content *snapshot.Content, gone [][]snapshot.Located, scope lethe.Scope,
) (out []share, err error) {
	all := positionsOf(content.Snapshot, transactionsAmong(slices.Concat(gone...)))
	forms, err := scan.NodeFingerprints(e.secret, content.Snapshot, all)
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
		changed, err = e.changedAfresh(ctx, content, removals)
	default:
		changed, err = e.publisher.cut.changed(content, removals, scope)
	}
	if err != nil {
		return nil, err
	}
	before := cutEdges(content.Snapshot, content.Assignment)
	joins := e.publisher.cut.gone(content.Snapshot, removals, scope)
	for i, every := range gone {
		if len(every) == 0 {
			continue
		}
		own, s := transactionsAmong(every), share{request: i, emptied: emptied}
		if err := e.planForms(&s.Plan, content.Snapshot, own, func(node int) scan.Forms {
			at, _ := slices.BinarySearch(all, node)
			return forms[at]
		}); err != nil {
			return nil, err
		}
		if err := e.planRedacted(&s.Plan, content.Snapshot, every); err != nil {
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

// planForms adds what to search for of a request's targets in a closed timestep.
func (e *eraser) planForms(
	plan *coordinator.Plan, s *lethe.Snapshot, own []snapshot.Located, of func(node int) scan.Forms,
) error {
	shared, err := e.sharedRows(s, own)
	if err != nil {
		return err
	}
	if len(shared) > 0 {
		plan.NotSearched = sortedset.Add(plan.NotSearched, scan.KindFeatures, scan.KindFeaturesText)
	}
	for _, node := range positionsOf(s, own) {
		forms := of(node)
		plan.NotSearched = sortedset.Add(plan.NotSearched, forms.NotSearched...)
		var features []scan.Fingerprint
		for _, f := range forms.Found {
			switch {
			case slices.Contains(shared, f):
			case f.Kind == scan.KindFeatures || f.Kind == scan.KindFeaturesText:
				features = append(features, f)
			default:
				plan.Fingerprints = append(plan.Fingerprints, f)
			}
		}
		e.planFeatures(plan, s.Row(node), features)
	}
	return nil
}

// planGone adds that a timestep will be gone, and that the closed one after it gets
// another one before it: all slices of both change.
func (e *eraser) planGone(plan *coordinator.Plan, step coordinator.StepPlan, info snapshot.Info) {
	all := e.publisher.allShards()
	if info.State == lethe.Settled {
		step.Shards = all
	}
	plan.Steps = mergeStep(plan.Steps, step)
	for _, next := range e.store.Timesteps() {
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

// mergeStep adds a step to a plan, to what is planned for its timestep already.
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
