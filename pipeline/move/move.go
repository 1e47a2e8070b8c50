package move

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"

	"lethe/ingest"
	"lethe/ingest/bus"
	"lethe/pipeline/wire"
)

// Bus is what is moved within; *bus.Client is one.
type Bus interface {
	wire.Publisher
	wire.WholeTopics
}

// together bounds the records that are written in one call.
const together = 500

// left is what an earlier version has left on erasure-status.v1.
type left struct {
	// newest are the records that were not deleted, by key.
	newest map[string]found
	// foreign says that some of it is of nobody with this secret.
	foreign bool
	// guarded says that earlier versions are kept away already.
	guarded bool
}

type found struct {
	at  int64
	rec ingest.Outgoing
}

// leftOn reads what is left. Records that are not the deployment's own are not: nobody may have them
// made so by the move.
func leftOn(ctx context.Context, topics Bus) (left, error) {
	l := left{newest: make(map[string]found)}
	err := topics.ReadAll(ctx, bus.ErasureStatus, func(rec ingest.Record) error {
		key, guard := string(rec.Key), wire.IsGuard(rec)
		switch {
		case !guard && !wire.IsLeft(rec):
			return nil
		case rec.Unproven != "":
			l.foreign = true
			return nil
		case guard, rec.Tombstone():
			l.guarded = l.guarded || guard
			delete(l.newest, key)
			return nil
		}
		l.newest[key] = found{rec.Offset, ingest.Outgoing{
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
	for _, f := range slices.SortedFunc(maps.Values(l.newest), func(a, b found) int { return cmp.Compare(a.at, b.at) }) {
		out = append(out, f.rec)
	}
	return out
}

// there is what control.v1 holds: its keys, and whether it is whole.
type there struct {
	keys    map[string]bool
	whole   bool
	foreign bool
}

func thereOn(ctx context.Context, topics Bus) (there, error) {
	t := there{keys: make(map[string]bool)}
	err := topics.ReadAll(ctx, bus.Control, func(rec ingest.Record) error {
		switch key := string(rec.Key); {
		case ingest.IsMarker(rec.Key):
		case rec.Unproven != "":
			t.foreign = true
		case rec.Tombstone():
			delete(t.keys, key)
		case wire.IsMoved(rec):
			t.whole = true
		default:
			t.keys[key] = true
		}
		return nil
	})
	if err != nil {
		return t, fmt.Errorf("what was moved before: %w", err)
	}
	return t, nil
}

// All moves what is left, and returns how many records that were: it copies them, keeps earlier
// versions away with the guard, says that control.v1 is whole (Moved), and deletes what was left.
//
// Killed before the guard is there it copies all again the next time, and deletes what it had copied
// and is no longer left, for an earlier version may have run since. Killed later it goes on, and what
// it copies again is the same. Where control.v1 is whole and something is left all the same, an earlier
// version has run beside or in between: that is newer than what control.v1 has of it.
//
// Where everything is of others, with another secret, nothing is written: whoever compares settings
// says so.
func All(ctx context.Context, topics Bus) (int, error) {
	l, err := leftOn(ctx, topics)
	if err != nil {
		return 0, err
	}
	t, err := thereOn(ctx, topics)
	if err != nil || (l.foreign || t.foreign) && !t.whole && len(l.newest)+len(t.keys) == 0 {
		return 0, err
	}
	records := l.copies()
	if !t.whole {
		records = append(records, l.dropped(t)...)
	}
	if err := write(ctx, topics, bus.Control, records); err != nil {
		return 0, fmt.Errorf("move control records: %w", err)
	}
	if len(l.newest) > 0 {
		guard, err := wire.Guard()
		if err == nil {
			err = topics.Write(ctx, bus.ErasureStatus, []ingest.Outgoing{guard})
		}
		if err != nil {
			return 0, fmt.Errorf("keep earlier versions away: %w", err)
		}
	}
	if !t.whole {
		if err := topics.Write(ctx, bus.Control, []ingest.Outgoing{wire.Moved()}); err != nil {
			return 0, fmt.Errorf("say that control records are moved: %w", err)
		}
	}
	if err := write(ctx, topics, bus.ErasureStatus, l.deleted()); err != nil {
		return 0, fmt.Errorf("delete control records that were moved: %w", err)
	}
	return len(l.newest), nil
}

// dropped are tombstones for what an attempt before has copied that is no longer left. Where nothing
// is left, or earlier versions were kept away, there is none.
func (l left) dropped(t there) (out []ingest.Outgoing) {
	if len(l.newest) == 0 || l.guarded {
		return nil
	}
	for _, key := range slices.Sorted(maps.Keys(t.keys)) {
		if _, has := l.newest[key]; !has {
			out = append(out, ingest.Outgoing{Key: []byte(key)})
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

func write(ctx context.Context, topics Bus, t bus.Topic, records []ingest.Outgoing) error {
	for some := range slices.Chunk(records, together) {
		if err := topics.Write(ctx, t, some); err != nil {
			return err
		}
	}
	return nil
}
