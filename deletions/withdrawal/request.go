package withdrawal

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"lethe/deletions"
	"lethe/deletions/batch"
	"lethe/deletions/scan"
	"lethe/deletions/search"
	"lethe/ingest"
	"lethe/ingest/bus"
)

// NamedRecord is a record by topic and key, in any partition.
type NamedRecord struct {
	Topic bus.Topic
	Key   string
}

// Know stores the records whose keys the graphs know of a request, in memory.
func (r *Records) Know(requestID string, list []NamedRecord) { r.named[requestID] = list }

// Knows reports whether records of a request are known by their keys.
func (r *Records) Knows(requestID string) bool { return len(r.named[requestID]) > 0 }

// Forget drops them.
func (r *Records) Forget(requestID string) { delete(r.named, requestID) }

// RemoveNamed tombstones the known records of some requests in every partition, naming the request: they count as
// found while the log has them.
func (r *Records) RemoveNamed(ctx context.Context, requestIDs []string) error {
	for _, topic := range bus.Topics() {
		partitions, err := r.o.Bus.Partitions(ctx, topic)
		if err != nil {
			return err
		}
		var tombstones []ingest.Outgoing
		for _, id := range requestIDs {
			for _, named := range r.named[id] {
				for p := range partitions {
					if named.Topic == topic {
						tombstones = append(tombstones, ingest.Outgoing{
							Key: []byte(named.Key), Headers: []ingest.Header{{Key: search.WithdrawnBy, Value: []byte(id)}},
							Pinned: true, Partition: p,
						})
					}
				}
			}
		}
		if len(tombstones) == 0 {
			continue
		}
		if err := r.o.Bus.Write(ctx, topic, tombstones); err != nil {
			return fmt.Errorf("withdraw known records of %s: %w", topic, err)
		}
	}
	return nil
}

// Remove withdraws what a search has located.
func (r *Records) Remove(ctx context.Context, found search.Remains, looked search.Looked) error {
	for _, topic := range bus.Topics() {
		if len(found.Tombstones[topic]) == 0 {
			continue
		}
		list, err := r.stillDue(ctx, topic, found.Tombstones[topic], looked)
		if err == nil {
			err = r.o.Bus.Write(ctx, topic, list)
		}
		if err != nil {
			return fmt.Errorf("withdraw records of %s: %w", topic, err)
		}
		r.addUnderWay(topic, list)
	}
	return nil
}

// stillDue leaves out records whose keys came again since the search: those are republished on arrival if needed.
func (r *Records) stillDue(
	ctx context.Context, topic bus.Topic, list []ingest.Outgoing, l search.Looked,
) ([]ingest.Outgoing, error) {
	again := func(o ingest.Outgoing) bool { return o.Value != nil }
	positions, known := l.Behind(topic)
	if !known || !slices.ContainsFunc(list, again) {
		return list, nil
	}
	came := make(map[place]bool)
	err := r.o.Bus.ReadNew(ctx, topic, positions, func(rec ingest.Record) error {
		came[place{topic, rec.Partition, string(rec.Key)}] = true
		return nil
	})
	if err != nil && !errors.Is(err, bus.ErrCorrupt) {
		return nil, err
	}
	return slices.DeleteFunc(slices.Clone(list), func(o ingest.Outgoing) bool {
		return again(o) && came[place{topic, o.Partition, string(o.Key)}]
	}), nil
}

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
	for _, e := range open {
		var fresh []scan.MAC
		for _, f := range e.Progress.Fingerprints {
			if found[f.MAC] && !slices.Contains(e.Progress.Dropped, f.MAC) {
				fresh = append(fresh, f.MAC)
			}
		}
		if len(fresh) == 0 {
			continue
		}
		e, err := r.o.Ledger.Update(e.RequestID, func(p *deletions.Progress) {
			p.Dropped = append(p.Dropped, fresh...)
		})
		if err != nil {
			return nil, err
		}
		changed = append(changed, e)
	}
	return changed, nil
}
