package score

import (
	"errors"
	"fmt"

	"lethe"
	"lethe/internal/swapstore"
	"lethe/scoring/ensemble"
	"lethe/trainer"
)

// fits reports whether every model of the served ensemble has the lineage that
// the manifests call for. While an erasure is being trained away it does not.
func (s *state) fits() bool {
	if s.served == nil {
		return true
	}
	want, known := s.lineages.At(s.served.Through)
	return known && s.served.Fits(want)
}

// renewed reports whether every shard has sent its checkpoint after the served
// timestep again: they were trained anew, with another kernel set perhaps,
// which the lineages do not tell.
func (s *state) renewed() bool {
	if s.served == nil {
		return false
	}
	want, known := s.lineages.At(s.served.Through)
	for shard := range s.served.Models {
		if !known || s.candidates[candidate{s.served.Through, lethe.ShardID(shard)}] != want[shard] {
			return false
		}
	}
	return true
}

// adopt swaps in the ensemble trained through t if every shard has a checkpoint
// of the right lineage, among those that arrived or those already served. It
// reports whether it did.
func (s *state) adopt(t lethe.Timestep) (bool, error) {
	want, known := s.lineages.At(t)
	if !known {
		return false, nil
	}
	for shard, lineage := range want {
		arrived := s.candidates[candidate{t, lethe.ShardID(shard)}] == lineage
		if !arrived && (s.served == nil || s.served.Models[shard].Lineage != lineage) {
			return false, nil
		}
	}
	models := make([]*trainer.Checkpoint, len(want))
	for shard, lineage := range want {
		c := candidate{t, lethe.ShardID(shard)}
		if s.candidates[c] != lineage {
			models[shard] = s.served.Models[shard]
			continue
		}
		value, found, err := s.store.Get(c.key())
		if err != nil || !found {
			return false, errors.Join(err, fmt.Errorf("checkpoint of shard %d after timestep %d is missing", shard, t))
		}
		if models[shard], err = trainer.DecodeCheckpoint(value); err != nil {
			return false, fmt.Errorf("checkpoint of shard %d after timestep %d: %w", shard, t, err)
		}
	}
	next, err := ensemble.Of(models)
	if err != nil {
		return false, err
	}
	return true, s.swap(next)
}

// swap makes the ensemble the served one, in one batch, and forgets candidates
// that cannot be needed any more.
func (s *state) swap(next *ensemble.Ensemble) error {
	var stale []candidate
	for c := range s.candidates {
		if c.timestep <= next.Through {
			stale = append(stale, c)
		}
	}
	err := s.store.Apply(func(w swapstore.Writer) error {
		for shard, m := range next.Models {
			if err := w.Set(servedKey(lethe.ShardID(shard)), trainer.EncodeCheckpoint(m)); err != nil {
				return err
			}
		}
		for _, c := range stale {
			if err := w.Delete(c.key()); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("swap to the ensemble trained through timestep %d: %w", next.Through, err)
	}
	for _, c := range stale {
		delete(s.candidates, c)
	}
	s.served = next
	return nil
}
