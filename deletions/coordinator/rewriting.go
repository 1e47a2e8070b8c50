package coordinator

import (
	"context"
	"slices"

	"lethe/deletions"
	"lethe/ingest/bus"
	"lethe/internal/sortedset"
	"lethe/metrics/events"
	"lethe/pipeline/wire"
)

// rewriting takes the targets out of every graph and sends what replaces them.
//
// What is about to be lost is put into the ledger first: the fingerprints, the
// timesteps and the slices that change. Everything after that can be repeated
// from the ledger and the targets, so a crash at any point only repeats it.
func (s *states) rewriting(ctx context.Context, e deletions.Entry) (deletions.Entry, error) {
	j := s.jobs.of(e.RequestID)
	if j == nil {
		return e, nil
	}
	plan, err := s.o.Graphs.Plan(j.request.Targets, e.Scope)
	if err != nil {
		return e, err
	}
	e, err = s.o.Ledger.Update(e.RequestID, func(p *deletions.Progress) { recordPlan(p, plan) })
	if err != nil {
		return e, err
	}
	s.erased.forget()
	if err := s.o.Graphs.Rewrite(ctx, j.request.Targets, replacedBy(e)); err != nil {
		return e, err
	}
	sources, err := s.erased.withdrawFrom(ctx, e, bus.Transactions, bus.Labels)
	if err != nil {
		return e, err
	}
	letters, err := s.erased.withdrawFrom(ctx, e, bus.DeadLetters)
	if err != nil {
		return e, err
	}
	// A step that is repeated after a crash may find less than it withdrew.
	if e, err = s.o.Ledger.Update(e.RequestID, func(p *deletions.Progress) {
		p.Counts.SourceRecords = max(p.Counts.SourceRecords, sources)
		p.Counts.DeadLetters = max(p.Counts.DeadLetters, letters)
	}); err != nil {
		return e, err
	}
	if err := s.out.command(ctx, e, wire.PhasePurge); err != nil {
		return e, err
	}
	s.o.Logger.Info("erasure: graphs rewritten", "request_id", e.RequestID, "timesteps", len(e.Progress.Timesteps),
		"slices", len(e.Progress.Slices), "records", sources, "dead_letters", letters)
	s.out.phaseDone(e, events.Rewrite, deletions.Rewriting)
	source, next := j.source, j.next
	s.jobs.drop(e.RequestID)
	if e, err = s.move(ctx, e, deletions.Retraining, nil); err != nil {
		return e, err
	}
	return e, s.jobs.commit(source, next)
}

// recordPlan adds a plan to a request's progress. After a crash the same is
// planned again, but counted once.
func recordPlan(p *deletions.Progress, plan Plan) {
	for _, f := range plan.Fingerprints {
		if !slices.Contains(p.Fingerprints, f) {
			p.Fingerprints = append(p.Fingerprints, f)
		}
	}
	p.NotSearched = sortedset.Add(p.NotSearched, plan.NotSearched...)
	for _, s := range plan.Steps {
		if !slices.Contains(p.Timesteps, s.Timestep) {
			p.Counts.Labels += s.Labels
			p.Counts.Payments += s.Payments
			p.Counts.Stubs += s.Stubs
		}
		p.Timesteps = sortedset.Add(p.Timesteps, s.Timestep)
		for _, shard := range s.Shards {
			p.Slices = append(p.Slices, deletions.SliceRef{Timestep: s.Timestep, Shard: shard})
			p.Retrained = append(p.Retrained, shard)
		}
	}
	slices.SortFunc(p.Slices, deletions.SliceRef.Compare)
	p.Slices = slices.Compact(p.Slices)
	p.Retrained = sortedset.Of(p.Retrained)
	p.Counts.Timesteps, p.Counts.Slices, p.Counts.Shards = len(p.Timesteps), len(p.Slices), len(p.Retrained)
}

// replacedBy lists what a request rewrites, as its progress says.
func replacedBy(e deletions.Entry) []Replaced {
	out := make([]Replaced, 0, len(e.Progress.Timesteps))
	for _, t := range e.Progress.Timesteps {
		r := Replaced{Timestep: t}
		for _, ref := range e.Progress.Slices {
			if ref.Timestep == t {
				r.Shards = append(r.Shards, ref.Shard)
			}
		}
		out = append(out, r)
	}
	return out
}
