package withdrawal

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"lethe/deletions"
	"lethe/deletions/batch"
	"lethe/deletions/scan"
	"lethe/deletions/search"
	"lethe/ingest/bus"
)

// recordDropped records which open requests a dropped record belongs to, before it is withdrawn: it was held when
// requested.
func (r *Records) recordDropped(ctx context.Context, in bus.Batch, positions []int) error {
	if topic := in.Source.Topic; len(positions) == 0 || topic != bus.Transactions && topic != bus.Labels {
		return nil
	}
	changed, err := r.dropped(in, positions)
	if err == nil {
		err = r.o.HandOver(ctx, changed)
	}
	if err != nil {
		return fmt.Errorf("note what was dropped: %w", err)
	}
	return nil
}

// dropped returns the requests of which something is dropped for the first time.
func (r *Records) dropped(in bus.Batch, positions []int) (changed []deletions.Entry, err error) {
	open, err := r.o.Ledger.Where(func(e *deletions.Entry) bool {
		return !e.State.Final() && e.Suppresses() && !e.Progress.Withdrawn
	})
	if err != nil {
		return nil, err
	}
	prints := batch.Batch{Members: open}.Fingerprints()
	if len(prints) == 0 {
		return nil, nil
	}
	scanner, err := scan.NewRecordScanner(r.o.Secret, r.o.Names, prints)
	if err != nil {
		return nil, err
	}
	found := make(map[scan.MAC]bool)
	for _, at := range positions {
		for _, h := range search.Hits(scanner, in.Records[at]) {
			found[prints[h.Fingerprint].MAC] = true
		}
	}
	fresh := make(map[string][]scan.MAC)
	for _, e := range open {
		for _, f := range e.Progress.Fingerprints {
			if found[f.MAC] && !slices.Contains(e.Progress.Dropped, f.MAC) {
				fresh[e.RequestID] = append(fresh[e.RequestID], f.MAC)
			}
		}
	}
	if len(fresh) == 0 {
		return nil, nil
	}
	ids := slices.Sorted(maps.Keys(fresh))
	return r.o.Ledger.UpdateAll(ids, func(i int, p *deletions.Progress) {
		p.Dropped = append(p.Dropped, fresh[ids[i]]...)
	})
}
