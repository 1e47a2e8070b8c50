package score

import (
	"errors"
	"fmt"
	"slices"

	"lethe"
	"lethe/internal/swapstore"
	"lethe/pipeline/role"
	"lethe/scoring/ensemble"
	"lethe/scoring/meta"
	"lethe/trainer"
)

// fits reports whether every model of the served ensemble has the lineage of the manifests. During the retraining of an
// erasure it does not.
func (s *state) fits() bool {
	if s.served == nil {
		return true
	}
	want, known := s.lineages.At(s.served.Through)
	return known && s.served.Fits(want)
}

// current reports whether the served ensemble has learnt from the present graphs. A graph arrives before its manifest,
// and until then the ensemble still fits. One that is served again once its models are read has not.
func (s *state) current() bool {
	_, known := s.links[s.awaits]
	if s.served == nil && (known || s.scored.Holds(s.awaits)) {
		return false
	}
	for t, revision := range s.revisions {
		if revision < s.links[t].revision {
			return false
		}
	}
	return s.fits()
}

// renewed reports whether every checkpoint of the served timestep has arrived again: they were retrained, perhaps with
// another kernel set, which lineages do not show.
func (s *state) renewed() bool {
	if s.served == nil {
		return false
	}
	want, known := s.lineages.At(s.served.Through)
	for number := range s.servedModels {
		if !known || s.candidates[candidate{s.served.Through, lethe.ShardID(number)}].lineage != want[number] {
			return false
		}
	}
	return true
}

// adopt swaps in the ensemble trained through t if every shard has a checkpoint of the right lineage, arrived or
// served, and reports whether it did.
func (s *state) adopt(t lethe.Timestep) (bool, error) {
	want, known := s.lineages.At(t)
	if !known {
		return false, nil
	}
	var serving []lethe.Digest
	if s.served != nil {
		serving = s.served.Lineages()
	}
	keys := make([]model, len(want))
	for number, lineage := range want {
		c := candidate{t, lethe.ShardID(number)}
		switch arrived := s.candidates[c]; {
		case arrived.lineage == lineage:
			keys[number] = model{c, arrived.digest}
		case number < len(serving) && serving[number] == lineage:
			keys[number] = s.servedModels[number]
		default:
			return false, nil
		}
	}
	next, err := s.ensembleOf(keys)
	if err != nil {
		return false, err
	}
	return true, s.swap(next, keys)
}

// ensembleOf reads the models of an ensemble.
func (s *state) ensembleOf(keys []model) (*ensemble.Ensemble, error) {
	var models []*trainer.Checkpoint
	var over *meta.Model
	for _, key := range keys {
		a, err := artefactOf(s.store, key, s.isMeta(key.shard))
		if err != nil {
			return nil, err
		}
		if a.over != nil {
			over = a.over
		} else {
			models = append(models, a.checkpoint)
		}
	}
	return ensemble.Of(models, over)
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

// unserve ends serving: all timesteps that the ensemble learnt from are deleted.
func (s *state) unserve() error {
	err := s.store.Apply(func(w swapstore.Writer) error {
		for _, m := range s.servedModels {
			if s.pins.hold(m) {
				continue
			}
			w.Delete(m.key())
		}
		w.Delete([]byte(servedKey))
		return nil
	})
	if err != nil {
		return fmt.Errorf("withdraw the ensemble trained through timestep %d: %w", s.served.Through, err)
	}
	s.served, s.servedModels = nil, nil
	return nil
}

// swap makes an ensemble the served one, with one write, and deletes models that are no longer needed. A model of the
// same timestep that is not in the ensemble stays: its manifest may not have arrived yet.
func (s *state) swap(next *ensemble.Ensemble, keys []model) error {
	lineages := next.Lineages()
	stale := slices.Clone(s.servedModels)
	var gone []candidate
	for c, a := range s.candidates {
		m := model{c, a.digest}
		switch served := slices.Contains(keys, m); {
		case served:
			gone = append(gone, c)
		case c.timestep < next.Through || c.timestep == next.Through && lineages[c.shard] == a.lineage:
			gone, stale = append(gone, c), append(stale, m)
		}
	}
	stale = slices.DeleteFunc(stale, func(m model) bool { return slices.Contains(keys, m) || s.pins.hold(m) })
	err := s.store.Apply(func(w swapstore.Writer) error {
		for _, m := range stale {
			w.Delete(m.key())
		}
		forgetCandidates(w, gone)
		w.Set([]byte(servedKey), encodeServed(keys))
		return nil
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

// artefact is the content of a message of models.v1: a checkpoint or a meta-model.
type artefact struct {
	checkpoint *trainer.Checkpoint
	over       *meta.Model
}

// decodeArtefact decodes the payload of a message as a meta-model or a checkpoint.
func decodeArtefact(payload []byte, isMeta bool) (a artefact, err error) {
	if isMeta {
		a.over, err = meta.Decode(payload)
	} else {
		a.checkpoint, err = trainer.DecodeCheckpoint(payload)
	}
	return a, err
}

// place returns the timestep and number in the payload. A meta-model has no number.
func (a artefact) place(number lethe.ShardID) (lethe.Timestep, lethe.ShardID) {
	switch {
	case a.over != nil:
		return a.over.Timestep, number
	case a.checkpoint != nil:
		return a.checkpoint.Timestep, a.checkpoint.Shard
	default:
		return 0, 0
	}
}

func (a artefact) lineage() lethe.Digest {
	if a.over != nil {
		return a.over.Lineage
	}
	return a.checkpoint.Lineage
}

// artefactOf reads a stored model.
func artefactOf(store role.Store, m model, isMeta bool) (artefact, error) {
	value, found, err := store.Get(m.key())
	if err == nil && !found {
		err = errors.New("it is missing")
	}
	var a artefact
	if err == nil {
		a, err = decodeArtefact(value, isMeta)
	}
	if err != nil {
		return a, fmt.Errorf("model %d after timestep %d: %w", m.shard, m.timestep, err)
	}
	return a, nil
}
