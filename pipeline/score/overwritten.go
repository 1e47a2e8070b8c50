package score

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"slices"

	"lethe"
	"lethe/ingest"
	"lethe/ingest/bus"
	"lethe/pipeline/role"
	"lethe/scoring"
)

// overwritten returns the final predictions under whose keys a fenced leader has written late. Nobody would publish them
// again, and a provisional one would stand in their place. What is suppressed stays as it is.
func (l *leader) overwritten(ctx context.Context) (records []ingest.Outgoing, err error) {
	if len(l.late) == 0 {
		return nil, nil
	}
	leaders, err := role.ReadLeaders(ctx, l.o.Bus)
	if err != nil {
		return nil, err
	}
	final, newest := make(map[string][]byte), make(map[string][]byte)
	err = l.o.Bus.ReadAll(ctx, bus.Predictions, func(rec ingest.Record) error {
		key, stale := string(rec.Key), leaders.Stale(bus.Predictions, rec)
		if !l.late[key] {
			return nil
		}
		newest[key] = bytes.Clone(rec.Value)
		if rec.Unproven != "" {
			return nil
		}
		if rec.Tombstone() {
			delete(final, key)
		} else if p, err := scoring.DecodePrediction(rec.Value); err == nil && p.Final && !stale {
			final[key] = newest[key]
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("read what was predicted: %w", err)
	}
	hides := l.state.hiding(l.o.Secret)
	for _, key := range slices.Sorted(maps.Keys(final)) {
		if !bytes.Equal(final[key], newest[key]) && !hides(lethe.TransactionID(key)) {
			records = append(records, ingest.Outgoing{Key: []byte(key), Value: final[key]})
		}
	}
	clear(l.late)
	return records, nil
}
