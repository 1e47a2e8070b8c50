package sent

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"

	"lethe"
	"lethe/ingest"
	"lethe/ingest/bus"
	"lethe/pipeline/role"
	"lethe/scoring"
)

// Late are predictions of those who led before, written once somebody else had led: they hung in the midst of that, or
// brokers got it late. They stand in the place of what was said since, and a provisional one in that of the final one,
// which nobody says again. One goroutine runs it beside that of the loop. A nil one knows of none.
type Late struct {
	begun chan struct{}
	wake  chan struct{}
	// of tells which records they are.
	of role.Former

	mu   sync.Mutex
	keys map[string]bool
	// read is up to where Run has looked, asked that NotedTo waits for it.
	read  map[bus.TopicPartition]int64
	asked bool
}

// NewLate returns those of a process that leads; nil for one that stands by, or plays the role alone.
func NewLate(s *role.Standing) *Late {
	if s == nil || s.StandsBy() {
		return nil
	}
	return &Late{begun: make(chan struct{}), wake: make(chan struct{}, 1), keys: make(map[string]bool)}
}

// Begin has Run look for them from where those before have noted what they said. It is called once.
func (l *Late) Begin(ctx context.Context, b role.Bus, s *role.Standing) (err error) {
	if l == nil {
		return nil
	}
	l.of, err = s.Former(ctx, b, bus.Predictions)
	if err == nil {
		l.read = maps.Clone(l.of.From)
		close(l.begun)
	}
	return err
}

// NotedTo returns up to where, of what ends at some positions, nothing is left to be found or said again. Wake delivers
// once that is more.
func (l *Late) NotedTo(ends map[bus.TopicPartition]int64) map[bus.TopicPartition]int64 {
	if l == nil {
		return ends
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	noted := make(map[bus.TopicPartition]int64)
	if len(l.keys) == 0 {
		for tp, end := range ends {
			noted[tp] = min(end, max(0, l.read[tp]))
		}
	}
	l.asked = !maps.Equal(noted, ends)
	return noted
}

// Run looks for them until the context ends.
func (l *Late) Run(ctx context.Context, b role.Bus) error {
	if l == nil {
		return nil
	}
	select {
	case <-l.begun:
	case <-ctx.Done():
		return ctx.Err()
	}
	tail, err := b.Follow(maps.Clone(l.of.From))
	if err != nil {
		return fmt.Errorf("follow %s: %w", bus.Predictions, err)
	}
	defer tail.Close() //nolint:errcheck // nothing was written
	for {
		batch, err := tail.Next(ctx)
		switch {
		case err == nil:
			l.take(batch)
		case !errors.Is(err, bus.ErrInterrupted) || ctx.Err() != nil:
			return err
		}
	}
}

func (l *Late) take(batch bus.Batch) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.read[batch.Source] = batch.Next
	for _, rec := range batch.Records {
		if !rec.Tombstone() && rec.Unproven == "" && l.of.Late(rec) {
			l.keys[string(rec.Key)] = true
		}
	}
	if len(l.keys) > 0 || l.asked {
		l.asked = false
		select {
		case l.wake <- struct{}{}:
		default:
		}
	}
}

// Wake delivers when Again may have something.
func (l *Late) Wake() <-chan struct{} {
	if l == nil {
		return nil
	}
	return l.wake
}

// Again returns the final predictions in whose place late ones stand. hides says of which transactions nothing is said.
// Errors: those of the topics.
func (l *Late) Again(
	ctx context.Context, b role.Bus, hides func(lethe.TransactionID) bool,
) (records []ingest.Outgoing, err error) {
	keys := l.found()
	if len(keys) == 0 {
		return nil, nil
	}
	final, standing := make(map[string][]byte), make(map[string][]byte)
	err = b.ReadAll(ctx, bus.Predictions, func(rec ingest.Record) error {
		key := string(rec.Key)
		if !keys[key] {
			return nil
		}
		standing[key] = bytes.Clone(rec.Value)
		if rec.Unproven != "" {
			return nil
		}
		if rec.Tombstone() {
			delete(final, key)
		} else if p, err := scoring.DecodePrediction(rec.Value); err == nil && p.Final && !l.of.Late(rec) {
			final[key] = standing[key]
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("read what was predicted: %w", err)
	}
	for _, key := range slices.Sorted(maps.Keys(final)) {
		if !bytes.Equal(final[key], standing[key]) && !hides(lethe.TransactionID(key)) {
			records = append(records, ingest.Outgoing{Key: []byte(key), Value: final[key]})
		}
	}
	return records, nil
}

// found returns the keys of those that were found since it was called last.
func (l *Late) found() (keys map[string]bool) {
	if l == nil {
		return nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	keys, l.keys = l.keys, make(map[string]bool)
	return keys
}
