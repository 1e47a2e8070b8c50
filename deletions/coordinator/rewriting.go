package coordinator

import (
	"context"
	"slices"

	"lethe"
	"lethe/deletions"
	"lethe/deletions/acks"
	"lethe/deletions/batch"
	"lethe/ingest/bus"
	"lethe/internal/sortedset"
	"lethe/metrics/events"
	"lethe/pipeline/wire"
)

// rewriting deletes the targets from every graph and publishes the replacements. It first persists data that rewriting
// destroys: fingerprints, timesteps and slices. After a crash everything else is repeated from the ledger and the
// targets.
func (s *states) rewriting(ctx context.Context, b batch.Batch) (batch.Batch, error) {
	requests, known := s.jobs.targets(b)
	if !known {
		return b, nil
	}
	plans, err := s.o.plan(ctx, b, requests)
	if err != nil {
		return b, err
	}
	before, err := s.o.Graphs.Published(planned(b, plans))
	if err != nil {
		return b, err
	}
	b, err = s.update(b, func(i int, p *deletions.Progress) {
		// A later plan may lack records.
		if e := b.Members[i]; p.Counts.Held == 0 && len(p.Timesteps) == 0 {
			s.records.Know(e.RequestID, plans[i].Records)
		}
		if b.Members[i].Scope == lethe.ScopeShard {
			p.StubsLeft = new(int)
		}
		recordPlan(p, plans[i])
		// The first plan sees everything.
		if first := len(b.Members[i].Progress.Revisions) == 0; first && p.Found == nil {
			p.Found = plans[i].Gone.Commit(s.o.Secret, b.Members[i].Digest)
		}
		p.RecordBefore(before)
		batch.MarkErased(p, s.o.Secret, requests[i], plans[i].Held)
	})
	if err != nil {
		return b, err
	}
	s.records.Changed()
	// Standbys get the plan before: it cannot be made later.
	if err := s.out.handOver(ctx, b.Members); err != nil {
		return b, err
	}
	digests := make([]lethe.Digest, len(b.Members))
	for i, e := range b.Members {
		digests[i] = e.Digest
	}
	targets := lethe.Distinct(slices.Concat(requests...))
	if err := s.o.Graphs.Rewrite(ctx, digests, targets, replacedBy(b, plans)); err != nil {
		return b, err
	}
	if b, err = s.rewritten(b); err != nil {
		return b, err
	}
	if err := s.out.command(ctx, b.Leader, wire.PhasePurge); err != nil {
		return b, err
	}
	timesteps := make(map[lethe.Timestep]bool)
	for _, r := range replaced(b) {
		timesteps[r.Timestep] = true
	}
	if err := s.out.renew(ctx, timesteps, b.Leader); err != nil {
		return b, err
	}
	s.o.Logger.Info("erasure: graphs rewritten", "request_id", b.Leader, "requests", len(b.Members),
		"timesteps", len(timesteps), "shards", len(b.Retrained()))
	s.out.phaseDone(b, events.Rewrite, deletions.Rewriting)
	return s.move(ctx, b, deletions.Retraining, nil)
}

// rewritten records the new revisions and digests.
func (s *states) rewritten(b batch.Batch) (batch.Batch, error) {
	revisions := make(map[lethe.Timestep]lethe.Revision)
	for _, step := range s.o.Graphs.Steps(replaced(b)) {
		revisions[step.Timestep] = step.Revision
	}
	after, err := s.o.Graphs.Published(planned(b, nil))
	if err != nil {
		return b, err
	}
	return s.update(b, func(_ int, p *deletions.Progress) {
		p.RecordAfter(after)
		p.Revisions = nil
		for _, t := range p.Timesteps {
			p.Revisions = append(p.Revisions, revisions[t])
		}
	})
}

// recordPlan adds a plan to a progress, once also after a crash.
func recordPlan(p *deletions.Progress, plan Plan) {
	for _, f := range plan.Fingerprints {
		if !slices.Contains(p.Fingerprints, f) {
			p.Fingerprints = append(p.Fingerprints, f)
		}
	}
	for _, row := range plan.Rows {
		if !slices.ContainsFunc(p.Rows, func(r deletions.RowForms) bool { return r.Content == row.Content }) {
			p.Rows = append(p.Rows, row)
		}
	}
	p.Counts.Held = max(p.Counts.Held, plan.Kept)
	p.NotSearched = sortedset.Add(p.NotSearched, plan.NotSearched...)
	for _, s := range plan.Steps {
		if p.AddTimestep(s.Timestep) {
			p.Counts.Labels += s.Labels
			p.Counts.Payments += s.Payments
			p.Counts.Stubs += s.Stubs
			p.KeptStubs = append(p.KeptStubs, s.Kept...)
		}
		for _, shard := range s.Shards {
			p.Slices = append(p.Slices, deletions.SliceRef{Timestep: s.Timestep, Shard: shard})
			p.Retrained = append(p.Retrained, shard)
		}
	}
	slices.SortFunc(p.Slices, deletions.SliceRef.Compare)
	p.Slices = slices.Compact(p.Slices)
	p.Retrained = sortedset.Of(p.Retrained)
	p.Counts.Timesteps, p.Counts.Slices, p.Counts.Shards = len(p.Timesteps), len(p.Slices), len(p.Retrained)
	p.Counts.SourceRecords = max(p.Counts.SourceRecords, sourceRecords(plan))
}

// sourceRecords counts the source records of a plan. They are tombstoned by key and may be compacted before anybody
// reads them.
func sourceRecords(plan Plan) (n int) {
	keys := make(map[string]bool)
	for _, r := range plan.Records {
		if r.Topic == bus.Transactions {
			keys[r.Key] = true
		}
	}
	for _, s := range plan.Steps {
		n += s.Labels
	}
	return n + len(keys)
}

// retraining waits until every affected shard is retrained and the new ensemble is served.
func (s *states) retraining(ctx context.Context, b batch.Batch) (batch.Batch, error) {
	purged, ok := s.acks.Of(b.Leader, b.Attempts(), acks.Train, deletions.StepPurged)
	if !ok {
		return b, nil
	}
	for _, shard := range b.Retrained() {
		if !slices.Contains(purged.Shards, shard) {
			return b, nil
		}
	}
	swapped, ok := s.acks.Of(b.Leader, b.Attempts(), acks.Score, deletions.StepSwapped)
	if !ok {
		return b, nil
	}
	// Both have published their settings before.
	configuration, err := wire.Configuration(s.acks.Settings())
	if err != nil {
		return b, err
	}
	s.out.phaseDone(b, events.Retrain, deletions.Retraining)
	return s.move(ctx, b, deletions.Swapped, func(_ int, e *deletions.Entry) {
		p := &e.Progress
		p.EnsembleAfter, p.Refitted = swapped.Ensemble, purged.Refitted(p.Retrained)
		p.Checkpoints.After, p.Configuration = swapped.Models, configuration
	})
}

// swapped cleans up: it tombstones records and scrubs the graphs' files, then waits until every place was searched.
// If the graphs did not hold all targets, it searches the topics now, for another place may have held them.
func (s *states) swapped(ctx context.Context, b batch.Batch) (batch.Batch, error) {
	// Score first replaces the reasons that named a target: a tombstone must not remove what takes their place.
	_, replaced := s.acks.Of(b.Leader, b.Attempts(), acks.Score, deletions.StepErased)
	switch {
	case s.scrubs.begunFor(b): // withdrawn already; records behind an unreadable batch: at the next attempt
	case s.knowsAll(b):
		if err := s.records.RemoveNamed(ctx, b.IDs()); err != nil {
			return b, err
		}
	case !replaced:
		return b, nil
	default:
		found, done, err := s.withdrawing.withdrawn(ctx, b)
		if err != nil || !done {
			return found, err
		}
		b = found
	}
	scrubbed, err := s.scrubs.make(ctx, b)
	if err == nil && replaced {
		err = s.verification.locateAhead(b.NotWithdrawn())
	}
	if err != nil || !scrubbed {
		return b, err
	}
	return s.cleaned(ctx, b)
}

// knowsAll reports whether the record keys of all targets are known.
func (s *states) knowsAll(b batch.Batch) bool {
	return !slices.ContainsFunc(b.Members, func(e deletions.Entry) bool {
		// Records with erased features must be read.
		elsewhere := func(o deletions.TargetOutcome) bool {
			return o.Outcome != deletions.OutcomeErased || o.Kind == lethe.FeaturesTarget
		}
		return !s.records.Knows(e.RequestID) || slices.ContainsFunc(e.Progress.Outcomes, elsewhere)
	})
}

// cleaned waits for the other roles to search the rewritten places, and searches those of the graphs.
func (s *states) cleaned(ctx context.Context, b batch.Batch) (batch.Batch, error) {
	found, ok := s.acks.Searched(b.Leader, b.Attempts(), deletions.StepErased)
	if !ok {
		return b, nil
	}
	scanner, err := s.scanner(b.Fingerprints())
	if err != nil {
		return b, err
	}
	report, err := s.o.Graphs.Search(ctx, scanner, replaced(b))
	if err != nil {
		return b, err
	}
	if found = found.Add(report.Summary()); found.Hits > 0 {
		s.splits.mark(b)
		s.o.Logger.Error("erasure: a place that was written anew still holds something", "request_id", b.Leader,
			"requests", len(b.Members), "hits", found.Hits)
		return s.stop(ctx, b, deletions.Failed, deletions.FailedHits)
	}
	s.out.phaseDone(b, events.Swap, deletions.Swapped)
	mark := func(_ int, e *deletions.Entry) { e.Progress.Erasure = &found }
	if b, err = s.move(ctx, b, deletions.Erased, mark); err != nil {
		return b, err
	}
	return b, s.out.command(ctx, b.Leader, wire.PhaseSearch)
}
