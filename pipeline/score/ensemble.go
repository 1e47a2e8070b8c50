package score

import (
	"errors"
	"fmt"
	"slices"

	"lethe"
	"lethe/internal/swapstore"
	"lethe/pipeline/role"
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
// timestep again: they were trained again, perhaps with another kernel set,
// which the lineages do not tell.
func (s *state) renewed() bool {
	if s.served == nil {
		return false
	}
	want, known := s.lineages.At(s.served.Through)
	for shard := range s.served.Models {
		if !known || s.candidates[candidate{s.served.Through, lethe.ShardID(shard)}].lineage != want[shard] {
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
		arrived := s.candidates[candidate{t, lethe.ShardID(shard)}].lineage == lineage
		if !arrived && (s.served == nil || s.served.Models[shard].Lineage != lineage) {
			return false, nil
		}
	}
	models, keys := make([]*trainer.Checkpoint, len(want)), make([]model, len(want))
	for shard, lineage := range want {
		c := candidate{t, lethe.ShardID(shard)}
		if s.candidates[c].lineage != lineage {
			models[shard], keys[shard] = s.served.Models[shard], s.servedModels[shard]
			continue
		}
		keys[shard] = model{c, s.candidates[c].digest}
		var err error
		if models[shard], err = checkpointOf(s.store, keys[shard]); err != nil {
			return false, err
		}
	}
	next, err := ensemble.Of(models)
	if err != nil {
		return false, err
	}
	return true, s.swap(next, keys)
}

// settledBefore returns the newest settled timestep before t, or NoTimestep.
func (s *state) settledBefore(t lethe.Timestep) lethe.Timestep {
	before := lethe.NoTimestep
	for at := range s.revisions {
		if at < t {
			before = max(before, at)
		}
	}
	return before
}

// unserve serves nothing any more: all that the ensemble learnt from is gone.
func (s *state) unserve() error {
	err := s.store.Apply(func(w swapstore.Writer) error {
		for _, m := range s.servedModels {
			if err := w.Delete(m.key()); err != nil {
				return err
			}
		}
		return w.Delete([]byte(servedKey))
	})
	if err != nil {
		return fmt.Errorf("withdraw the ensemble trained through timestep %d: %w", s.served.Through, err)
	}
	s.served, s.servedModels = nil, nil
	return nil
}

// checkpointOf reads a stored model.
func checkpointOf(store role.Store, m model) (*trainer.Checkpoint, error) {
	value, found, err := store.Get(m.key())
	if err == nil && !found {
		err = errors.New("it is missing")
	}
	if err != nil {
		return nil, fmt.Errorf("checkpoint of shard %d after timestep %d: %w", m.shard, m.timestep, err)
	}
	c, err := trainer.DecodeCheckpoint(value)
	if err != nil {
		return nil, fmt.Errorf("checkpoint of shard %d after timestep %d: %w", m.shard, m.timestep, err)
	}
	return c, nil
}

// swap makes the ensemble of these models the served one, with one write, and
// unlinks those that cannot be needed any more. One through the same timestep that
// is not in the ensemble stays: the manifest that it fits may still be on its way.
func (s *state) swap(next *ensemble.Ensemble, keys []model) error {
	stale := slices.DeleteFunc(slices.Clone(s.servedModels), func(m model) bool { return slices.Contains(keys, m) })
	var gone []candidate
	for c, a := range s.candidates {
		m := model{c, a.digest}
		switch served := slices.Contains(keys, m); {
		case served:
			gone = append(gone, c)
		case c.timestep < next.Through || c.timestep == next.Through && next.Models[c.shard].Lineage == a.lineage:
			gone, stale = append(gone, c), append(stale, m)
		}
	}
	err := s.store.Apply(func(w swapstore.Writer) error {
		for _, m := range stale {
			if err := w.Delete(m.key()); err != nil {
				return err
			}
		}
		if err := forgetCandidates(w, gone); err != nil {
			return err
		}
		return w.Set([]byte(servedKey), encodeServed(keys))
	})
	if err != nil {
		return fmt.Errorf("swap to the ensemble trained through timestep %d: %w", next.Through, err)
	}
	for _, c := range gone {
		delete(s.candidates, c)
	}
	s.served, s.servedModels = next, keys
	return nil
}
