package graphs

import (
	"context"
	"fmt"
	"slices"

	"lethe"
	"lethe/deletions/coordinator"
	"lethe/internal/sortedset"
	"lethe/pipeline/graphs/erase"
	"lethe/snapshot"
)

// answers answers questions.
type answers struct {
	store       *snapshot.Store
	eraser      *erase.Eraser
	coordinator *coordinator.Coordinator
}

// answer answers a question from the stores. Partitions made for a plan are discarded.
func (l answers) answer(ctx context.Context, q Question) (out Answer, err error) {
	defer l.eraser.Forget()
	targets := lethe.Distinct(q.Targets)
	for i := range targets {
		if targets[i].Kind == lethe.SubjectTarget && targets[i].Until == lethe.NoTimestep {
			targets[i].Until = max(0, l.eraser.Newest())
		}
	}
	out.Plans = make(map[lethe.Scope]coordinator.Plan)
	for _, scope := range q.Scopes {
		if l.coordinator.Rejects(scope) {
			continue
		}
		if out.Plans[scope], err = l.coordinator.Plan(ctx, targets, scope); err != nil {
			return out, fmt.Errorf("plan at scope %s: %w", scope, err)
		}
	}
	if out.Past, err = l.coordinator.Past(pastMost); err != nil {
		return out, err
	}
	for _, info := range l.store.Timesteps() {
		if info.State == lethe.Settled {
			out.Settled = sortedset.Add(out.Settled, info.Timestep)
		}
	}
	carried, several, err := l.eraser.CarriedBy(targets)
	out.Carried, out.Several = len(carried), several
	if err == nil {
		out.Holds, err = l.coordinator.HoldsOf(slices.Concat(targets, carried))
	}
	out.Unknown = unknownOf(targets, out.Plans)
	if err == nil {
		out.Alike, err = l.eraser.HeldAlike(ctx, out.Unknown)
	}
	if err == nil && q.Held {
		out.Held, err = holdings{l.eraser.Carriers}.of(lethe.Distinct(slices.Concat(targets, carried)))
	}
	return out, err
}

// unknownOf returns the targets without data. All scopes find the same.
func unknownOf(targets []lethe.Target, plans map[lethe.Scope]coordinator.Plan) (out []lethe.Target) {
	for _, plan := range plans {
		for i, held := range plan.Held {
			if !held {
				out = append(out, targets[i])
			}
		}
		return out
	}
	return nil
}
