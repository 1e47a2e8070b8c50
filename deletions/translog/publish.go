package translog

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"slices"

	"lethe/deletions"
	"lethe/ingest"
	"lethe/ingest/bus"
)

// checkpointRecord is the key of the signed checkpoint in log.v1. A leaf's is its index.
const checkpointRecord = "checkpoint"

// Writer is how the log is published.
type Writer interface {
	Write(ctx context.Context, t bus.Topic, records []ingest.Outgoing) error
}

// Publish writes missing leaves to log.v1, and then the checkpoint. One goroutine calls it.
func (l *Log) Publish(ctx context.Context, w Writer) error { return l.PublishAgain(ctx, w, nil) }

// PublishAgain is Publish after reading records of log.v1 since Start, in their order. A record that differs from the
// log is written again, or deleted if the log has none: it is a late record of a fenced leader, or a copy of an
// earlier one.
func (l *Log) PublishAgain(ctx context.Context, w Writer, read []ingest.Record) error {
	l.mu.Lock()
	records, pending, err := due(l, read)
	l.mu.Unlock()
	if err != nil || len(records) == 0 {
		return err
	}
	if err := w.Write(ctx, bus.Log, records); err != nil {
		return fmt.Errorf("publish %d leaves of the transparency log: %w", pending, err)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.published, l.pending, l.beyond = l.published+int64(pending), l.pending[pending:], nil
	return nil
}

// due are the records that log.v1 lacks, with the number of leaves that were never published.
func due(l *Log, read []ingest.Record) (records []ingest.Outgoing, pending int, err error) {
	if err := l.load(); err != nil {
		return nil, 0, err
	}
	for _, index := range l.beyond {
		if index >= l.tree.Size() {
			records = append(records, ingest.Outgoing{Key: leafRecord(index)})
		}
	}
	again := false
	for _, rec := range read {
		index := parseIndex(string(rec.Key))
		switch {
		case string(rec.Key) == checkpointRecord:
			again = replaces(l, rec) || again
		case index < 0, index >= l.published && index < l.tree.Size():
		case index >= l.published && rec.Tombstone():
		case index >= l.published:
			records = append(records, ingest.Outgoing{Key: bytes.Clone(rec.Key)})
		default:
			right, err := restored(l, rec, index)
			if err != nil {
				return nil, 0, err
			}
			records = append(records, right...)
		}
	}
	for i, text := range l.pending {
		records = append(records, ingest.Outgoing{Key: leafRecord(l.published + int64(i)), Value: text})
	}
	if again || len(records) > 0 {
		records = append(records, ingest.Outgoing{Key: []byte(checkpointRecord), Value: []byte(l.signed.Note)})
	}
	return records, len(l.pending), nil
}

// restored is the record of a leaf, if the one that was read is not it.
func restored(l *Log, rec ingest.Record, index int64) ([]ingest.Outgoing, error) {
	text, err := readLeaf(l.kv, index)
	if err != nil || rec.Unauthenticated == "" && bytes.Equal(text, rec.Value) {
		return nil, err
	}
	return []ingest.Outgoing{{Key: bytes.Clone(rec.Key), Value: text}}, nil
}

// replaces reports whether a checkpoint that was read is not one of the log, or is behind a later one.
func replaces(l *Log, rec ingest.Record) bool {
	if rec.Unauthenticated != "" {
		return true
	}
	if string(rec.Value) == l.signed.Note {
		l.confirmed = l.signed.N
		return false
	}
	checkpoint, err := ParseCheckpoint(string(rec.Value))
	if err != nil || checkpoint.N > l.tree.Size() || checkpoint.N < l.confirmed {
		return true
	}
	was, err := l.tree.At(checkpoint.N)
	if err != nil {
		return true
	}
	if own, err := l.signer.Sign(was); err != nil || own.Note != string(rec.Value) {
		return true
	}
	l.confirmed = checkpoint.N
	return false
}

// Start compares the log with the published one, or rebuilds it from there if the store has none; then it adds missing
// changes of the ledger. A log that is shorter than the published one, or differs, is a Refusal: it was rolled back,
// or another process continues it.
//
// late, which may be nil, is called with the records in their order and identifies late ones of fenced leaders. They,
// and records without the deployment's code, are ignored if the others are a complete log, and overwritten once the
// log is published.
func (l *Log) Start(
	ctx context.Context, r Reader, late func(rec ingest.Record) bool, has deletions.Changes,
) error {
	var all, led reading
	err := readPublished(ctx, r, func(rec ingest.Record) {
		all.take(rec)
		if rec.Unauthenticated == "" && (late == nil || !late(rec)) {
			led.take(rec)
		}
	})
	if err != nil {
		return err
	}
	if err := l.resume(all, led); err != nil {
		return err
	}
	if err := l.introduce(); err != nil {
		return err
	}
	return l.Write(has, nil, func(rows ...deletions.Row) error {
		if len(rows) == 0 {
			return nil
		}
		return l.kv.Put(rows...)
	})
}

// resume compares the stored log with the published one: with all records, or with those of leaders if they are a
// complete log.
func (l *Log) resume(all, led reading) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.load(); err != nil {
		return err
	}
	var findings Findings
	published := led.copy()
	if published.checkTree(&findings, l.signer.origin, l.trusted(published)); len(findings) > 0 {
		led, published = all, all.copy()
	}
	if published.Checkpoint != "" {
		if l.tree.Size() == 0 {
			if err := l.restore(published); err != nil {
				return err
			}
			return setPublished(l, all, led)
		}
		signed, err := l.keys.Open(published.Checkpoint, l.signer.origin)
		if err != nil {
			return refuse(StatementCheckpoint, "in %s: %v", bus.Log, err)
		}
		if signed.N > l.tree.Size() {
			return refuse(StatementTopic, "the log has %d leaves, its checkpoint in %s is of %d: it was rolled back",
				l.tree.Size(), bus.Log, signed.N)
		}
		before, err := l.tree.At(signed.N)
		if err != nil {
			return err
		}
		if before.Hash != signed.Hash {
			return refuse(StatementTopic, "the log had another root at %d leaves than its checkpoint in %s: there are two logs",
				signed.N, bus.Log)
		}
	}
	return setPublished(l, all, led)
}

// setPublished determines the leaves that the topic lacks, and those of fenced leaders only.
func setPublished(l *Log, all, led reading) error {
	stored, err := ReadStored(l.kv)
	if err != nil {
		return err
	}
	published := all.copy()
	n := 0
	for n < min(len(stored.Leaves), len(published.Leaves)) && bytes.Equal(stored.Leaves[n], published.Leaves[n]) {
		n++
	}
	if n == len(stored.Leaves) && n > 0 && published.Checkpoint != l.signed.Note {
		n-- // so that the checkpoint is written again
	}
	l.published, l.pending, l.beyond, l.confirmed = int64(n), stored.Leaves[n:], nil, 0
	if published.Checkpoint == l.signed.Note {
		l.confirmed = l.signed.N
	}
	for _, index := range slices.Sorted(maps.Keys(all.leaves)) {
		if led.leaves[index] == nil {
			l.beyond = append(l.beyond, index)
		}
	}
	return nil
}

// restore takes the log from the topic, as far as its checkpoint goes.
func (l *Log) restore(published Copy) error {
	signed, err := ParseCheckpoint(published.Checkpoint)
	if err != nil {
		return refuse(StatementCheckpoint, "in %s: %v", bus.Log, err)
	}
	if int64(len(published.Leaves)) < signed.N {
		return refuse(StatementTopic, "the data directory has no log, and %s has %d leaves of the %d of its checkpoint",
			bus.Log, len(published.Leaves), signed.N)
	}
	kept := Copy{Leaves: published.Leaves[:signed.N], Checkpoint: published.Checkpoint}
	var findings Findings
	kept.checkTree(&findings, l.signer.origin, l.trusted(kept))
	if len(findings) > 0 {
		statement := findings[0].Statement
		if statement == StatementTree {
			statement = StatementTopic
		}
		return refuse(statement, "in %s: %s", bus.Log, findings[0].Problem)
	}
	l.loaded = false
	rows := make([]deletions.Row, 0, len(kept.Leaves)+1)
	for i, leaf := range kept.Leaves {
		rows = append(rows, deletions.Row{Key: leafKey(int64(i)), Value: leaf})
	}
	rows = append(rows, deletions.Row{Key: checkpointKey(), Value: []byte(kept.Checkpoint)})
	if err := l.kv.Put(rows...); err != nil {
		return err
	}
	l.published = signed.N
	return l.load()
}

func leafRecord(index int64) []byte { return fmt.Appendf(nil, "%0*d", indexDigits, index) }

// Issue adds the receipts of requests to the log, unless it has them, and returns the proof of each. It publishes the
// new leaves, because a receipt must not name an unpublished checkpoint.
func (l *Log) Issue(ctx context.Context, w Writer, receipts []Receipt) ([]Proof, error) {
	leaves := make([]Leaf, len(receipts))
	for i, r := range receipts {
		leaves[i] = r
	}
	if err := l.Append(leaves...); err != nil {
		return nil, err
	}
	proofs, err := l.Prove(leaves...)
	if err != nil {
		return nil, err
	}
	return proofs, l.Publish(ctx, w)
}
