package graphs

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"time"

	"lethe/deletions/scan"
	"lethe/ingest"
	"lethe/ingest/bus"
)

// What was erased may be sent again: a replay of the source, a late label, a
// record that is broken but names it. Such records are dropped, not kept as
// dead letters, and withdrawn from their topic, for lethe promises that no
// topic of its own holds them.

// withdrawal is records of one topic that are to go from it.
type withdrawal struct {
	topic      bus.Topic
	tombstones []ingest.Outgoing
}

// add withdraws the record at a position of the batch, unless a later record
// there has taken its key over: compaction will remove it then, and a tombstone
// would remove the later one too.
func (w *withdrawal) add(batch bus.Batch, at int) {
	key := batch.Records[at].Key
	if len(key) == 0 || slices.ContainsFunc(batch.Records[at+1:], func(rec ingest.Record) bool { return bytes.Equal(rec.Key, key) }) {
		return
	}
	w.tombstones = append(w.tombstones, ingest.Outgoing{
		Key: bytes.Clone(key), Pinned: true, Partition: batch.Source.Partition,
	})
}

// withdrawNow writes the tombstones, and a marker behind them: the newest write
// of a partition is not compacted.
func (r *Role) withdrawNow(ctx context.Context, w withdrawal) error {
	if len(w.tombstones) == 0 {
		return nil
	}
	if err := r.o.Client.Write(ctx, w.topic, w.tombstones); err != nil {
		return fmt.Errorf("withdraw %d records: %w", len(w.tombstones), err)
	}
	if err := r.o.Client.RollMarkers(ctx, w.topic); err != nil {
		return err
	}
	r.rolls, r.rolled = laterRolls, r.o.Clock()
	return nil
}

const (
	// laterRolls is how many markers follow a withdrawal for the sake of Apache
	// Kafka, which takes a segment to be old only when something is written after
	// segment.ms, a minute, and drops the tombstone in a later run. They are not
	// remembered over a restart: whatever is sent next does the same.
	laterRolls    = 3
	laterInterval = 70 * time.Second
)

// rollLater writes the markers that are due.
func (r *Role) rollLater(ctx context.Context) error {
	if r.rolls == 0 || r.o.Clock().Sub(r.rolled) < laterInterval {
		return nil
	}
	r.rolls, r.rolled = r.rolls-1, r.o.Clock()
	return r.o.Client.RollMarkers(ctx, bus.Transactions, bus.Labels, bus.Erasures)
}

// namesErased reports whether a record that is to be refused holds an erased
// transaction anywhere in it.
func (r *Role) namesErased(rec ingest.Record) (bool, error) {
	if r.erased == nil {
		entries, err := r.ledger.List()
		if err != nil {
			return false, err
		}
		var prints []scan.Fingerprint
		for _, e := range entries {
			if e.Suppresses() {
				prints = append(prints, e.Progress.Fingerprints...)
			}
		}
		if r.erased, err = scan.NewScanner(r.o.Secret, prints); err != nil {
			return false, err
		}
	}
	return holds(r.erased, rec), nil
}

// holds reports whether a record holds what the scanner looks for.
func holds(scanner *scan.Scanner, rec ingest.Record) bool {
	if len(scanner.MatchKey(rec.Key)) > 0 || len(scanner.ScanBytes(rec.Key)) > 0 || len(scanner.ScanBytes(rec.Value)) > 0 {
		return true
	}
	return slices.ContainsFunc(rec.Headers, func(h ingest.Header) bool { return len(scanner.ScanBytes(h.Value)) > 0 })
}
