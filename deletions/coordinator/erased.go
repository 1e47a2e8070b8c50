package coordinator

import (
	"bytes"
	"context"
	"fmt"
	"slices"

	"lethe"
	"lethe/deletions"
	"lethe/deletions/scan"
	"lethe/ingest"
	"lethe/ingest/bus"
)

// What was erased may be sent again: a replay of the source, a late label, a
// record that is broken but names it. Such records are dropped, not kept as dead
// letters, and withdrawn from their topic, for lethe promises that no topic of
// its own holds them.

// Erased keeps whatever was erased so far out of lethe's topics.
type Erased struct {
	ledger *deletions.Ledger
	secret lethe.Secret
	bus    Bus
	out    *outbox
	// scanner is nil when what was erased has changed.
	scanner *scan.Scanner
}

func (n *Erased) forget() { n.scanner = nil }

// Names reports whether a record holds something erased, anywhere in it. One that
// is to be refused is asked about: a dead letter would keep its bytes.
func (n *Erased) Names(rec ingest.Record) (bool, error) {
	if n.scanner == nil {
		entries, err := n.ledger.List()
		if err != nil {
			return false, err
		}
		var prints []scan.Fingerprint
		for _, e := range entries {
			if e.Suppresses() {
				prints = append(prints, e.Progress.Fingerprints...)
			}
		}
		if n.scanner, err = scan.NewScanner(n.secret, prints); err != nil {
			return false, err
		}
	}
	return holds(n.scanner, rec), nil
}

// holds reports whether a record holds what the scanner looks for.
func holds(scanner *scan.Scanner, rec ingest.Record) bool {
	if len(scanner.MatchKey(rec.Key)) > 0 || len(scanner.ScanBytes(rec.Key)) > 0 || len(scanner.ScanBytes(rec.Value)) > 0 {
		return true
	}
	return slices.ContainsFunc(rec.Headers, func(h ingest.Header) bool { return len(scanner.ScanBytes(h.Value)) > 0 })
}

// Withdraw deletes the records at some positions of a batch from their topic. A
// record is left alone if a later one of the batch has taken its key over:
// compaction will remove it then, and a tombstone would remove the later one too.
func (n *Erased) Withdraw(ctx context.Context, batch bus.Batch, positions []int) error {
	var tombstones []ingest.Outgoing
	for _, at := range positions {
		key := batch.Records[at].Key
		later := func(rec ingest.Record) bool { return bytes.Equal(rec.Key, key) }
		if len(key) == 0 || slices.ContainsFunc(batch.Records[at+1:], later) {
			continue
		}
		tombstones = append(tombstones, ingest.Outgoing{
			Key: bytes.Clone(key), Pinned: true, Partition: batch.Source.Partition,
		})
	}
	return n.out.withdraw(ctx, batch.Source.Topic, tombstones)
}

// withdrawFrom writes a tombstone for every record of the topics that holds one of
// the request's fingerprints, in its key, value or headers, and returns how many.
func (n *Erased) withdrawFrom(ctx context.Context, e deletions.Entry, topics ...bus.Topic) (int, error) {
	scanner, err := scan.NewScanner(n.secret, e.Progress.Fingerprints)
	if err != nil {
		return 0, err
	}
	total := 0
	for _, topic := range topics {
		var tombstones []ingest.Outgoing
		err := n.bus.ReadAll(ctx, topic, func(rec ingest.Record) error {
			if !rec.Tombstone() && len(rec.Key) > 0 && holds(scanner, rec) {
				tombstones = append(tombstones, ingest.Outgoing{
					Key: bytes.Clone(rec.Key), Pinned: true, Partition: rec.Partition,
				})
			}
			return nil
		})
		if err == nil && len(tombstones) > 0 {
			err = n.bus.Write(ctx, topic, tombstones)
		}
		if err != nil {
			return total, fmt.Errorf("withdraw records of %s: %w", topic, err)
		}
		total += len(tombstones)
	}
	return total, nil
}
