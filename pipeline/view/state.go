package view

import (
	"encoding/binary"
	"fmt"

	"lethe"
	"lethe/ingest/bus"
	"lethe/internal/swapstore"
	"lethe/internal/timestepkey"
	"lethe/pipeline/wire"
	"lethe/scoring"
)

// state is what the role stores, with its mirror in memory.
type state struct {
	store  *swapstore.Store
	secret lethe.Secret
	hidden *hidden
	feed   *Feed
	// next are the read offsets, maybe ahead of the store.
	next    map[bus.TopicPartition]int64
	counts  map[lethe.Timestep]Counts
	quality measuring
}

// readState reads the mirror of a store.
func readState(store *swapstore.Store, secret lethe.Secret) (*state, error) {
	s := &state{store: store, secret: secret, feed: newFeed(), next: make(map[bus.TopicPartition]int64)}
	var err error
	if s.hidden, err = readHidden(store, secret); err != nil {
		return nil, err
	}
	if s.counts, err = readCounts(store); err != nil {
		return nil, err
	}
	s.quality, err = newMeasuring(store, s.feed, s.counts)
	return s, err
}

// applyRecord makes the changes of a record or batch, and stores the position behind it. fn may be nil.
func (s *state) applyRecord(tp bus.TopicPartition, next int64, fn func(w swapstore.Writer) error) error {
	return s.store.Apply(func(w swapstore.Writer) error {
		if fn != nil {
			if err := fn(w); err != nil {
				return err
			}
		}
		w.Set(offsetKey(tp), binary.BigEndian.AppendUint64(nil, uint64(next)))
		return nil
	})
}

// replacePrediction replaces a prediction; either may be nil.
func (s *state) replacePrediction(
	w swapstore.Writer, changed changedCounts, n name, before, after *scoring.Prediction,
) error {
	for _, p := range []*scoring.Prediction{before, after} {
		if p == nil || !p.Final {
			continue
		}
		s.quality.due(w, p.Timestep)
	}
	if before != nil {
		s.count(changed, before, -1)
		for _, key := range rankKeys(n, before.Timestep, before.Probability, isAlert(before)) {
			w.Delete(key)
		}
	}
	key := keyOf(predictionPrefix, n)
	if after == nil {
		if before != nil {
			w.Delete(key)
		}
		return nil
	}
	value, err := encodePrediction(after)
	if err != nil {
		return err
	}
	w.Set(key, value)
	s.count(changed, after, 1)
	for _, key := range rankKeys(n, after.Timestep, after.Probability, isAlert(after)) {
		w.Set(key, nil)
	}
	return nil
}

// purge deletes everything stored for targets.
func (s *state) purge(targets []lethe.Digest) error {
	changed := make(changedCounts)
	err := s.store.Apply(func(w swapstore.Writer) error {
		for _, target := range targets {
			if err := s.forget(w, changed, nameOf(s.secret, target)); err != nil {
				return err
			}
		}
		return changed.write(w)
	})
	if err != nil {
		return fmt.Errorf("delete what is erased: %w", err)
	}
	s.keep(changed)
	s.feed.notify(Predictions, Alerts, Timesteps)
	return nil
}

func (s *state) forget(w swapstore.Writer, changed changedCounts, n name) error {
	before, err := readPredictions(s.store, n)
	if err != nil {
		return err
	}
	if err := s.replacePrediction(w, changed, n, before[0], nil); err != nil {
		return err
	}
	in, found, err := readNode(s.store, n)
	if err != nil {
		return err
	}
	if found {
		s.quality.due(w, in.timestep)
		forgetNode(w, in.timestep, n)
	}
	w.Delete(keyOf(reasonsPrefix, n))
	return nil
}

// forgetStep removes the graph of a timestep that is gone: its deletion may be compacted away unread.
func (s *state) forgetStep(step wire.CommandStep) error {
	if !step.Gone {
		return nil
	}
	t := step.Timestep
	at, settled, err := s.revisions(t)
	if err != nil {
		return err
	}
	if at > step.Revision || settled > step.Revision || at == 0 && settled == 0 {
		return nil // it has come again, or is gone
	}
	members, err := membersOf(s.store, t)
	if err != nil {
		return err
	}
	return s.store.Apply(func(w swapstore.Writer) error {
		s.quality.due(w, t)
		w.Delete(timestepkey.New(graphPrefix, t))
		w.Delete(timestepkey.New(manifestPrefix, t))
		for _, n := range members {
			forgetNode(w, t, n)
		}
		return deleteShards(s.store, w, t)
	})
}

// revisions are those of a timestep's graph and manifest, or 0.
func (s *state) revisions(t lethe.Timestep) (graph, settled lethe.Revision, err error) {
	known, err := readGraph(s.store, t)
	if err != nil {
		return 0, 0, err
	}
	if known != nil {
		graph = known.Revision
	}
	settled, _, err = readManifest(s.store, t)
	return graph, settled, err
}
