package translog

import (
	"bytes"
	"context"
	"fmt"

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

// Reader is how what was published is read; *bus.Client is one.
type Reader interface {
	ReadAll(ctx context.Context, t bus.Topic, fn func(ingest.Record) error) error
}

// Publish writes to log.v1 what it lacks: leaves, and behind them the checkpoint. One
// goroutine calls it.
func (l *Log) Publish(ctx context.Context, w Writer) error {
	l.mu.Lock()
	err := l.load()
	from, pending, signed := l.published, l.pending, l.signed
	l.mu.Unlock()
	if err != nil || len(pending) == 0 {
		return err
	}
	records := make([]ingest.Outgoing, 0, len(pending)+1)
	for i, text := range pending {
		records = append(records, ingest.Outgoing{Key: leafRecord(from + int64(i)), Value: text})
	}
	records = append(records, ingest.Outgoing{Key: []byte(checkpointRecord), Value: []byte(signed.Note)})
	if err := w.Write(ctx, bus.Log, records); err != nil {
		return fmt.Errorf("publish %d leaves of the transparency log: %w", len(pending), err)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.published, l.pending = from+int64(len(pending)), l.pending[len(pending):]
	return nil
}

// ReadPublished reads the log from log.v1.
func ReadPublished(ctx context.Context, r Reader) (Copy, error) {
	var c Copy
	leaves := make(map[int64][]byte)
	err := r.ReadAll(ctx, bus.Log, func(rec ingest.Record) error {
		index := parseIndex(string(rec.Key))
		switch {
		case string(rec.Key) == checkpointRecord:
			c.Checkpoint = string(rec.Value)
		case index < 0:
		case rec.Tombstone():
			delete(leaves, index)
		default:
			leaves[index] = bytes.Clone(rec.Value)
		}
		return nil
	})
	if err != nil {
		return c, fmt.Errorf("transparency log in %s: %w", bus.Log, err)
	}
	for leaf, found := leaves[0]; found; leaf, found = leaves[int64(len(c.Leaves))] {
		c.Leaves = append(c.Leaves, leaf)
	}
	c.Beyond = len(leaves) - len(c.Leaves)
	return c, nil
}

// Start makes the log ready: it is compared with what was published, and made again from
// there if the store has none; then it takes what the ledger has and it lacks. A
// log that is shorter than what was published, or another, is a Refusal: it was rolled back,
// or somebody else goes on with it.
func (l *Log) Start(ctx context.Context, r Reader, has deletions.Changes) error {
	published, err := ReadPublished(ctx, r)
	if err != nil {
		return err
	}
	if err := l.resume(published); err != nil {
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

// resume compares the stored log with the published one.
func (l *Log) resume(published Copy) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.load(); err != nil {
		return err
	}
	if published.Checkpoint != "" {
		if l.tree.Size() == 0 {
			return l.restore(published)
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
	return l.setPublished(published)
}

// setPublished finds out which leaves the topic lacks.
func (l *Log) setPublished(published Copy) error {
	stored, err := ReadStored(l.kv)
	if err != nil {
		return err
	}
	n := 0
	for n < min(len(stored.Leaves), len(published.Leaves)) && bytes.Equal(stored.Leaves[n], published.Leaves[n]) {
		n++
	}
	if n == len(stored.Leaves) && n > 0 && published.Checkpoint != l.signed.Note {
		n-- // so that the checkpoint is written again
	}
	l.published, l.pending = int64(n), stored.Leaves[n:]
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

// Issue has the receipts of requests in the log, and returns the proof of each. Those that
// are in it already are not added again. It publishes what it adds, for a receipt must not
// name a checkpoint that nobody else has.
func (l *Log) Issue(ctx context.Context, w Writer, receipts []Receipt) ([]Proof, error) {
	leaves := make([]Leaf, len(receipts))
	for i, r := range receipts {
		leaves[i] = r
	}
	at, err := l.Append(leaves...)
	if err != nil {
		return nil, err
	}
	proofs, err := l.Prove(at...)
	if err != nil {
		return nil, err
	}
	return proofs, l.Publish(ctx, w)
}
