package coordinator

import (
	"context"
	"fmt"
	"slices"

	"lethe"
	"lethe/deletions"
	"lethe/ingest/bus"
	"lethe/internal/sortedset"
	"lethe/metrics/events"
	"lethe/pipeline/wire"
)

// rewriting removes the targets from every graph and publishes the replacements. It first stores what is about to be
// lost: fingerprints, timesteps and slices. Everything else can be repeated from the ledger and the targets after a
// crash.
func (s *states) rewriting(ctx context.Context, b batch) (batch, error) {
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
		s.erased.knows(b.members[i].RequestID, *p, plans[i])
		if b.members[i].Scope == lethe.ScopeShard {
			p.StubsLeft = new(int)
		}
		recordPlan(p, plans[i])
		// The first plan sees everything.
		if first := len(b.members[i].Progress.Revisions) == 0; first && p.Found == nil {
			p.Found = plans[i].Gone.Commit(s.o.Secret, b.members[i].Digest)
		}
		p.RecordBefore(before)
		markErased(p, s.o.Secret, requests[i], plans[i].Held)
	})
	if err != nil {
		return b, err
	}
	s.erased.forget()
	if err := s.out.rewrite(ctx, b, requests, plans); err != nil {
		return b, err
	}
	revisions := make(map[lethe.Timestep]lethe.Revision)
	for _, step := range s.o.Graphs.Steps(b.replaced()) {
		revisions[step.Timestep] = step.Revision
	}
	after, err := s.o.Graphs.Published(planned(b, nil))
	if err != nil {
		return b, err
	}
	if b, err = s.update(b, func(_ int, p *deletions.Progress) {
		p.RecordAfter(after)
		p.Revisions = nil
		for _, t := range p.Timesteps {
			p.Revisions = append(p.Revisions, revisions[t])
		}
	}); err != nil {
		return b, err
	}
	if err := s.out.command(ctx, b.leader, wire.PhasePurge); err != nil {
		return b, err
	}
	if err := s.renew(ctx, b); err != nil {
		return b, err
	}
	s.o.Logger.Info("erasure: graphs rewritten", "request_id", b.leader, "requests", len(b.members),
		"timesteps", len(b.replaced()), "shards", len(b.retrained()))
	s.out.phaseDone(b, events.Rewrite, deletions.Rewriting)
	return s.move(ctx, b, deletions.Retraining, nil)
}

// rewrite has the graphs rewritten, after standbys got the plan: later nobody finds it.
func (o *outbox) rewrite(ctx context.Context, b batch, requests [][]lethe.Target, plans []Plan) error {
	if err := o.handOver(ctx, b.members); err != nil {
		return err
	}
	digests := make([]lethe.Digest, len(b.members))
	for i, e := range b.members {
		digests[i] = e.Digest
	}
	return o.graphs.Rewrite(ctx, digests, lethe.Distinct(slices.Concat(requests...)), replacedBy(b, plans))
}

// renew repeats the commands of other batches whose timesteps were rewritten again or are gone: their revisions will
// not come.
func (s *states) renew(ctx context.Context, b batch) error {
	rewritten := make(map[lethe.Timestep]bool)
	for _, r := range b.replaced() {
		rewritten[r.Timestep] = true
	}
	return s.out.renew(ctx, rewritten, b.leader)
}

// renew repeats the commands of batches that rewrote some timesteps, except one leader's.
func (o *outbox) renew(ctx context.Context, timesteps map[lethe.Timestep]bool, but string) error {
	open, err := o.ledger.List(deletions.Retraining, deletions.Swapped, deletions.Erased)
	if err != nil {
		return err
	}
	for _, b := range batches(open) {
		shares := slices.ContainsFunc(b.replaced(), func(r Replaced) bool { return timesteps[r.Timestep] })
		if !shares || b.leader == but {
			continue
		}
		if err := o.repeat(ctx, b); err != nil {
			return fmt.Errorf("command of request %s: %w", b.leader, err)
		}
	}
	return nil
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
func (s *states) retraining(ctx context.Context, b batch) (batch, error) {
	purged, ok := s.acks.of(b.leader, b.attempts(), trainRole, deletions.StepPurged)
	if !ok {
		return b, nil
	}
	for _, shard := range b.retrained() {
		if !slices.Contains(purged.Shards, shard) {
			return b, nil
		}
	}
	swapped, ok := s.acks.of(b.leader, b.attempts(), scoreRole, deletions.StepSwapped)
	if !ok {
		return b, nil
	}
	// Both have published their settings before.
	configuration, err := wire.Configuration(s.acks.settings)
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
