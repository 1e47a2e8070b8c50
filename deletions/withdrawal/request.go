package withdrawal

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"lethe/deletions/search"
	"lethe/ingest"
	"lethe/ingest/bus"
)

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

// Remove withdraws the records that a search has located.
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

// stillDue leaves out records whose keys came again since the search: those are republished or withdrawn on arrival if
// needed, and a tombstone would remove one that names nothing erased.
func (r *Records) stillDue(
	ctx context.Context, topic bus.Topic, list []ingest.Outgoing, l search.Looked,
) ([]ingest.Outgoing, error) {
	due := make(map[place]bool, len(list))
	for _, o := range list {
		due[place{topic, o.Partition, string(o.Key)}] = true
	}
	came, stays := make(map[place]bool), make(map[place]bool)
	err := r.o.Bus.ReadNew(ctx, topic, l.End(topic), func(rec ingest.Record) error {
		at := place{topic, rec.Partition, string(rec.Key)}
		if !due[at] {
			return nil
		}
		names, err := r.Names(rec)
		came[at], stays[at] = true, !rec.Tombstone() && !names
		return err
	})
	if err != nil && !errors.Is(err, bus.ErrCorrupt) {
		return nil, err
	}
	return slices.DeleteFunc(slices.Clone(list), func(o ingest.Outgoing) bool {
		at := place{topic, o.Partition, string(o.Key)}
		return stays[at] || o.Value != nil && came[at]
	}), nil
}
