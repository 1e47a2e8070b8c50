package move

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"lethe/ingest"
	"lethe/ingest/bus"
	"lethe/pipeline/wire"
)

// left is what an earlier version has left on erasure-status.v1.
type left struct {
	// newest are the records that were not deleted, by key.
	newest map[string]found
	// foreign says that some of it is of nobody with this secret.
	foreign bool
	// guarded says that earlier versions are kept away.
	guarded bool
}

type found struct {
	offset int64
	at     time.Time
	rec    ingest.Outgoing
}

// leftOn reads what is left. Records that are not the deployment's own are not: nobody may have them
// made so by the move.
func leftOn(ctx context.Context, topics Bus) (left, error) {
	l := left{newest: make(map[string]found)}
	err := topics.ReadAll(ctx, bus.ErasureStatus, func(rec ingest.Record) error {
		key, guard := string(rec.Key), wire.IsGuard(rec)
		if !guard && !wire.IsLeft(rec) {
			return nil
		}
		if rec.Unproven != "" {
			l.foreign = true
			return nil
		}
		if wire.IsGuarded(key) {
			l.guarded = guard
		}
		if delete(l.newest, key); guard || rec.Tombstone() {
			return nil
		}
		l.newest[key] = found{rec.Offset, rec.Time, ingest.Outgoing{
			Key: []byte(key), Value: bytes.Clone(rec.Value), Headers: slices.Clone(rec.Headers),
		}}
		return nil
	})
	if err != nil {
		return l, fmt.Errorf("what an earlier version has left: %w", err)
	}
	return l, nil
}

// copies are the newest records, in the order in which they stood.
func (l left) copies() (out []ingest.Outgoing) {
	earlier := func(a, b found) int { return cmp.Compare(a.offset, b.offset) }
	for _, f := range slices.SortedFunc(maps.Values(l.newest), earlier) {
		out = append(out, f.rec)
	}
	return out
}

// since are those of the records that were written after control.v1 was whole, and after what it has
// under their keys.
func (l left) since(t there) left {
	later := left{newest: make(map[string]found)}
	for key, f := range l.newest {
		if f.at.After(t.movedAt) && f.at.After(t.newest[key]) {
			later.newest[key] = f
		}
	}
	return later
}

// same reports whether nothing was written between two looks, but the guard.
func (l left) same(later left) bool {
	for key, f := range l.newest {
		if now, has := later.newest[key]; !wire.IsGuarded(key) && (!has || now.offset != f.offset) {
			return false
		}
	}
	for key := range later.newest {
		if _, had := l.newest[key]; !had || wire.IsGuarded(key) {
			return false
		}
	}
	return true
}

// there is what control.v1 holds.
type there struct {
	// keys are those that were not deleted, newest when something was written or deleted last.
	keys   map[string]bool
	newest map[string]time.Time
	// whole says that it has all of what an earlier version wrote, since movedAt.
	whole   bool
	movedAt time.Time
	foreign bool
}

func thereOn(ctx context.Context, topics Bus) (there, error) {
	t := there{keys: make(map[string]bool), newest: make(map[string]time.Time)}
	err := topics.ReadAll(ctx, bus.Control, func(rec ingest.Record) error {
		key := string(rec.Key)
		switch {
		case ingest.IsMarker(rec.Key):
			return nil
		case rec.Unproven != "":
			t.foreign = true
			return nil
		case wire.IsMoved(rec):
			t.whole, t.movedAt = true, rec.Time
			return nil
		case rec.Tombstone():
			delete(t.keys, key)
		default:
			t.keys[key] = true
		}
		t.newest[key] = rec.Time
		return nil
	})
	if err != nil {
		return t, fmt.Errorf("what was moved before: %w", err)
	}
	return t, nil
}

// dropped are tombstones for what was copied before and is no longer left, but for what the guard has
// replaced.
func (l left) dropped(t there) (out []ingest.Outgoing) {
	for _, key := range slices.Sorted(maps.Keys(t.keys)) {
		if _, has := l.newest[key]; !has && !wire.IsGuarded(key) {
			out = append(out, ingest.Outgoing{Key: []byte(key)})
			delete(t.keys, key)
		}
	}
	return out
}

// deleted are tombstones for everything but what the guard has replaced.
func (l left) deleted() (out []ingest.Outgoing) {
	for _, key := range slices.Sorted(maps.Keys(l.newest)) {
		if !wire.IsGuarded(key) {
			out = append(out, ingest.Outgoing{Key: []byte(key)})
		}
	}
	return out
}
