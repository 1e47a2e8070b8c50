package overwritten

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

// Predictions are those of processes that led before, written once somebody else had led: they hung in the midst of
// that, or brokers got it late. They stand in the place of what was published since, and a provisional one in that of
// the final one, which nobody publishes again. One goroutine runs it beside that of the loop. A nil one knows of none.
type Predictions struct {
	wake chan struct{}
	// of tells which records they are.
	of role.Former

	mu   sync.Mutex
	keys map[string]bool
}

// Of returns those of a process that leads.
func Of(of role.Former) *Predictions {
	return &Predictions{wake: make(chan struct{}, 1), of: of, keys: make(map[string]bool)}
}

// Run looks for them until the context ends.
func (p *Predictions) Run(ctx context.Context, b role.Bus) error {
	if p == nil {
		return nil
	}
	tail, err := b.Follow(maps.Clone(p.of.From))
	if err != nil {
		return fmt.Errorf("follow %s: %w", bus.Predictions, err)
	}
	defer tail.Close() //nolint:errcheck // nothing was written
	for {
		batch, err := tail.Next(ctx)
		switch {
		case err == nil:
			p.take(batch)
		case !errors.Is(err, bus.ErrInterrupted) || ctx.Err() != nil:
			return err
		}
	}
}

func (p *Predictions) take(batch bus.Batch) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, rec := range batch.Records {
		if !rec.Tombstone() && rec.Unproven == "" && p.of.Late(rec) {
			p.keys[string(rec.Key)] = true
		}
	}
	if len(p.keys) > 0 {
		select {
		case p.wake <- struct{}{}:
		default:
		}
	}
}

// Wake delivers when Again may have something.
func (p *Predictions) Wake() <-chan struct{} {
	if p == nil {
		return nil
	}
	return p.wake
}

// Again returns the final predictions in whose place late ones stand. hides says of which transactions nothing is said.
// Errors: those of the topics.
func (p *Predictions) Again(
	ctx context.Context, b role.Bus, hides func(lethe.TransactionID) bool,
) (records []ingest.Outgoing, err error) {
	keys := p.found()
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
		} else if said, err := scoring.DecodePrediction(rec.Value); err == nil && said.Final && !p.of.Late(rec) {
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
func (p *Predictions) found() (keys map[string]bool) {
	if p == nil {
		return nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	keys, p.keys = p.keys, make(map[string]bool)
	return keys
}
