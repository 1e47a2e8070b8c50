// Package withdrawal removes records that name erased targets from the topics. They may arrive again: a replay, a late
// label, a broken record. Intake drops them, and they are tombstoned instead of dead-lettered.
//
// Records of a new request are withdrawn twice: at once those whose keys the graphs know (RemoveNamed), and all others
// after a search of the topics (Remove).
//
//	request.go     the records of requests
//	strip.go       records of others, republished without erased names or features
//	withdrawal.go  questions of intake, such as whether a record names something erased; tombstones
//	dropped.go     the requests that dropped records belong to
//	records.go     the state and its records
package withdrawal

import (
	"bytes"
	"context"
	"slices"

	"lethe/deletions"
	"lethe/deletions/scan"
	"lethe/deletions/search"
	"lethe/ingest"
	"lethe/ingest/bus"
)

// Names reports whether a record contains something erased. A refused record is checked too, since a dead letter
// would keep its bytes.
func (r *Records) Names(rec ingest.Record) (bool, error) {
	if r.scanner == nil {
		var prints []scan.Fingerprint
		_, err := r.o.Ledger.Where(func(e *deletions.Entry) bool {
			if e.Suppresses() {
				prints = append(prints, e.Progress.Fingerprints...)
			}
			return false
		})
		if err != nil {
			return false, err
		}
		if r.scanner, err = scan.NewRecordScanner(r.o.Secret, r.o.Names, prints); err != nil {
			return false, err
		}
	}
	own := func(h ingest.Header) bool { return h.Key == search.WithdrawnBy }
	if rec.Tombstone() && slices.ContainsFunc(rec.Headers, own) {
		// The record is withdrawn already; another tombstone would be behind the search.
		rec.Key = nil
	}
	return len(search.Hits(r.scanner, rec)) > 0, nil
}

// Withdraw tombstones records of a batch. One with a later record of its key is left alone: compaction removes it,
// and a tombstone would remove the later one.
func (r *Records) Withdraw(ctx context.Context, batch bus.Batch, positions []int) error {
	if err := r.recordDropped(ctx, batch, positions); err != nil {
		return err
	}
	var tombstones []ingest.Outgoing
	for _, at := range positions {
		if key := batch.Records[at].Key; key != nil && isLast(batch, at) {
			tombstones = append(tombstones, ingest.Outgoing{
				Key: bytes.Clone(key), Pinned: true, Partition: batch.Source.Partition,
			})
		}
	}
	return r.write(ctx, batch.Source.Topic, tombstones)
}

// isLast reports whether a batch has no later record of a record's key.
func isLast(batch bus.Batch, at int) bool {
	return !slices.ContainsFunc(batch.Records[at+1:], func(later ingest.Record) bool {
		return bytes.Equal(later.Key, batch.Records[at].Key)
	})
}
