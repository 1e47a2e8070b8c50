package view

import (
	"encoding/binary"
	"fmt"
	"maps"
	"slices"
	"time"

	"lethe"
	"lethe/ingest"
	"lethe/internal/swapstore"
	"lethe/internal/timestepkey"
)

// learnings are the times, in microseconds, of the last model of a timestep that replaced none (0 if unknown), and
// of the last of all.
type learnings struct{ first, newest int64 }

func learningsOf(store swapstore.Reader, t lethe.Timestep) (l learnings, err error) {
	value, found, err := store.Get(timestepkey.New(learntPrefix, t))
	if err != nil || !found {
		return l, err
	}
	if len(value) != 16 {
		return l, fmt.Errorf("%w: when timestep %d was learnt from", swapstore.ErrCorrupt, t)
	}
	return learnings{int64(binary.BigEndian.Uint64(value)), int64(binary.BigEndian.Uint64(value[8:]))}, nil
}

// storeLearnings stores the times of models among records of the log.
func storeLearnings(store swapstore.Reader, w swapstore.Writer, records []ingest.Record) error {
	changed := make(map[lethe.Timestep]learnings)
	for _, rec := range records {
		leaf, found, err := modelIn(rec.Value)
		if err != nil || !found {
			continue // a record that is not a leaf is reported where the log is verified
		}
		known, begun := changed[leaf.Timestep]
		if !begun {
			if known, err = learningsOf(store, leaf.Timestep); err != nil {
				return err
			}
		}
		known.newest = rec.Time.UnixMicro()
		if leaf.Replaces.IsZero() {
			known.first = known.newest
		}
		changed[leaf.Timestep] = known
	}
	for _, t := range slices.Sorted(maps.Keys(changed)) {
		value := binary.BigEndian.AppendUint64(nil, uint64(changed[t].first))
		value = binary.BigEndian.AppendUint64(value, uint64(changed[t].newest))
		w.Set(timestepkey.New(learntPrefix, t), value)
	}
	return nil
}

// date sets when the ensemble's last timestep was learnt.
func (e *Ensemble) date(store swapstore.Reader) error {
	learnt, err := learningsOf(store, e.Through)
	if err != nil || learnt == (learnings{}) {
		return err
	}
	newest := time.UnixMicro(learnt.newest).UTC()
	e.Learnt = &newest
	shards, err := shardsOf(store, e.Through)
	if err != nil {
		return err
	}
	var slice time.Time
	for _, s := range shards {
		if s.Published.After(slice) {
			slice = s.Published
		}
	}
	if after := time.UnixMicro(learnt.first).Sub(slice).Seconds(); learnt.first != 0 && !slice.IsZero() && after >= 0 {
		e.AfterSeconds = &after
	}
	return nil
}
