package graphs

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"

	"lethe"
	"lethe/deletions"
	"lethe/deletions/scan"
	"lethe/ingest/bus"
	"lethe/metrics/events"
	"lethe/pipeline/wire"
	"lethe/snapshot"
)

// rewrite takes the records out of every graph and sends what replaces them.
//
// What is about to be lost is put into the ledger first: the fingerprints, the
// timesteps and the slices that change. Everything after that can be repeated
// from the ledger and the ids, so a crash at any point only repeats it.
func (r *Role) rewrite(ctx context.Context, e deletions.Entry) (deletions.Entry, error) {
	j := r.jobFor(e.RequestID)
	if j == nil {
		// After a crash the request has to be read again first.
		return e, nil
	}
	located, err := r.store.Locate(j.nodes)
	if err != nil {
		return e, err
	}
	if e, err = r.foresee(e, located); err != nil {
		return e, err
	}
	r.erased = nil
	if _, err := r.store.Erase(ctx, j.nodes); err != nil {
		return e, err
	}
	if err := r.republish(ctx, e); err != nil {
		return e, err
	}
	sources, err := r.sweep(ctx, e, bus.Transactions, bus.Labels)
	if err != nil {
		return e, err
	}
	letters, err := r.sweep(ctx, e, bus.DeadLetters)
	if err != nil {
		return e, err
	}
	// A step that is repeated after a crash may find less than it withdrew.
	if e, err = r.ledger.Update(e.RequestID, func(p *deletions.Progress) {
		p.Counts.SourceRecords = max(p.Counts.SourceRecords, sources)
		p.Counts.DeadLetters = max(p.Counts.DeadLetters, letters)
	}); err != nil {
		return e, err
	}
	if err := r.order(ctx, e, wire.PhasePurge); err != nil {
		return e, err
	}
	r.o.Logger.Info("erasure: graphs rewritten", "request_id", e.RequestID,
		"timesteps", len(e.Progress.Timesteps), "slices", len(e.Progress.Slices), "records", sources, "dead_letters", letters)
	r.phaseDone(e, events.Rewrite, deletions.Rewriting)
	source, next := j.source, j.next
	r.jobs = slices.DeleteFunc(r.jobs, func(k job) bool { return k.request.RequestID == e.RequestID })
	if e, err = r.move(ctx, e, deletions.Retraining, nil); err != nil {
		return e, err
	}
	return e, r.commitRequests(source, next)
}

// foresee records what the erasure will change, before anything is changed.
func (r *Role) foresee(e deletions.Entry, located []snapshot.Located) (deletions.Entry, error) {
	gone := make(map[lethe.Timestep][]lethe.Pseudonym)
	for _, l := range located {
		switch {
		case !l.Known:
		case l.State == lethe.Open:
			prints, err := scan.RowFingerprints(r.o.Secret, l.Features)
			if err != nil {
				return e, err
			}
			if e, err = r.ledger.Update(e.RequestID, func(p *deletions.Progress) { addFingerprints(p, prints) }); err != nil {
				return e, err
			}
		default:
			gone[l.Timestep] = append(gone[l.Timestep], l.Pseudonym)
		}
	}
	for _, t := range slices.Sorted(maps.Keys(gone)) {
		var err error
		if e, err = r.foreseeTimestep(e, t, gone[t]); err != nil {
			return e, fmt.Errorf("timestep %d: %w", t, err)
		}
	}
	return r.dropShared(e)
}

// foreseeTimestep records what the erasure will change in a closed timestep.
func (r *Role) foreseeTimestep(e deletions.Entry, t lethe.Timestep, gone []lethe.Pseudonym) (deletions.Entry, error) {
	content, err := r.store.Load(t)
	if err != nil {
		return e, err
	}
	var nodes []int
	labels := 0
	for _, p := range gone {
		node, found := content.Snapshot.Find(p)
		if !found {
			continue
		}
		nodes = append(nodes, node)
		if content.Snapshot.Nodes[node].Label != lethe.Unknown {
			labels++
		}
	}
	prints, notSearched, err := scan.NodeFingerprints(r.o.Secret, content.Snapshot, nodes)
	if err != nil {
		return e, err
	}
	plan, err := deletions.PlanErasure(content.Snapshot, content.Assignment, nodes, e.Scope)
	if err != nil {
		return e, err
	}
	return r.ledger.Update(e.RequestID, func(p *deletions.Progress) {
		// After a crash the same is foreseen again, but counted once.
		if !slices.Contains(p.Timesteps, t) {
			p.Counts.Labels += labels
			p.Counts.Payments += len(plan.Payments)
			p.Counts.Stubs += plan.CutEdges
		}
		addFingerprints(p, prints)
		addPlan(p, plan)
		p.NotSearched = sortedSet(append(p.NotSearched, notSearched...))
	})
}

func addFingerprints(p *deletions.Progress, prints []scan.Fingerprint) {
	for _, f := range prints {
		if !slices.Contains(p.Fingerprints, f) {
			p.Fingerprints = append(p.Fingerprints, f)
		}
	}
}

// addPlan adds one timestep's plan to the progress.
func addPlan(p *deletions.Progress, plan deletions.Plan) {
	p.Timesteps = sortedSet(append(p.Timesteps, plan.Timestep))
	for _, ref := range plan.Slices() {
		if !slices.Contains(p.Slices, ref) {
			p.Slices = append(p.Slices, ref)
		}
	}
	slices.SortFunc(p.Slices, func(a, b deletions.SliceRef) int {
		return cmp.Or(cmp.Compare(a.Timestep, b.Timestep), cmp.Compare(a.Shard, b.Shard))
	})
	p.Retrained = nil
	for _, ref := range p.Slices {
		p.Retrained = append(p.Retrained, ref.Shard)
	}
	p.Retrained = sortedSet(p.Retrained)
	p.Counts.Timesteps, p.Counts.Slices, p.Counts.Shards = len(p.Timesteps), len(p.Slices), len(p.Retrained)
}

func sortedSet[T cmp.Ordered](list []T) []T {
	slices.Sort(list)
	return slices.Compact(list)
}

// dropShared leaves out the feature rows that a transaction that stays has too:
// finding them says nothing. The receipt names them.
func (r *Role) dropShared(e deletions.Entry) (deletions.Entry, error) {
	searched := make(map[scan.Fingerprint]bool)
	for _, f := range e.Progress.Fingerprints {
		if isFeatures(f) {
			searched[f] = true
		}
	}
	shared := make(map[scan.Fingerprint]bool)
	for _, info := range r.store.Timesteps() {
		if info.State == lethe.Open || len(searched) == 0 {
			continue
		}
		content, err := r.store.Load(info.Timestep)
		if err != nil {
			return e, fmt.Errorf("timestep %d: %w", info.Timestep, err)
		}
		if err := markShared(r.o.Secret, content.Snapshot, e.Targets, searched, shared); err != nil {
			return e, err
		}
	}
	if len(shared) == 0 {
		return e, nil
	}
	return r.ledger.Update(e.RequestID, func(p *deletions.Progress) {
		p.Fingerprints = slices.DeleteFunc(p.Fingerprints, func(f scan.Fingerprint) bool { return shared[f] })
		p.NotSearched = sortedSet(append(p.NotSearched, scan.KindFeatures, scan.KindFeaturesText))
	})
}

func isFeatures(f scan.Fingerprint) bool {
	return f.Kind == scan.KindFeatures || f.Kind == scan.KindFeaturesText
}

// markShared notes the rows that a transaction outside the request has.
func markShared(secret lethe.Secret, s *lethe.Snapshot, erased []lethe.Digest, searched, shared map[scan.Fingerprint]bool) error {
	for i, n := range s.Nodes {
		if slices.Contains(erased, secret.Suppression(n.ID)) {
			continue
		}
		prints, err := scan.RowFingerprints(secret, s.Row(i))
		if err != nil {
			return err
		}
		for _, f := range prints {
			if searched[f] {
				shared[f] = true
			}
		}
	}
	return nil
}

// republish sends the graphs, slices and manifests that the erasure replaced,
// as they are now.
func (r *Role) republish(ctx context.Context, e deletions.Entry) error {
	states := make(map[lethe.Timestep]snapshot.Info)
	for _, info := range r.store.Timesteps() {
		states[info.Timestep] = info
	}
	for _, t := range e.Progress.Timesteps {
		info, known := states[t]
		if !known || info.State == lethe.Open {
			continue
		}
		if err := r.publishGraph(ctx, t); err != nil {
			return err
		}
		if info.State != lethe.Settled {
			continue
		}
		var affected []lethe.ShardID
		for _, ref := range e.Progress.Slices {
			if ref.Timestep == t {
				affected = append(affected, ref.Shard)
			}
		}
		if err := r.publishSlices(ctx, t, affected); err != nil {
			return err
		}
	}
	return nil
}
