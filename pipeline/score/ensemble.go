package score

import (
	"errors"
	"fmt"

	"lethe"
	"lethe/pipeline/role"
	"lethe/scoring/meta"
	"lethe/trainer"
)

// fits reports whether every model of the served ensemble has the lineage of the manifests. During the retraining of an
// erasure it does not.
func (s *state) fits() bool {
	served := s.models.served
	if served == nil {
		return true
	}
	want, known := s.lineages.At(served.Through)
	return known && served.Fits(want)
}

// current reports whether the served ensemble has learnt from the present graphs. A graph arrives before its manifest,
// and until then the ensemble still fits. One that is served again once its models are read has not.
func (s *state) current() bool {
	_, known := s.links[s.awaits]
	if s.models.served == nil && (known || s.scored.Holds(s.awaits)) {
		return false
	}
	for t, revision := range s.revisions {
		if revision < s.links[t].revision {
			return false
		}
	}
	return s.fits()
}

// renewed reports whether every checkpoint of the served timestep has arrived again, of the manifests' lineages.
func (s *state) renewed() bool {
	if s.models.served == nil {
		return false
	}
	want, known := s.lineages.At(s.models.served.Through)
	return known && s.models.renewed(want)
}

// adopt serves the ensemble trained through t if it is complete, and reports whether it did.
func (s *state) adopt(t lethe.Timestep) (bool, error) {
	want, known := s.lineages.At(t)
	if !known {
		return false, nil
	}
	return s.models.adopt(t, want)
}

// awaitedModels returns how many models of the ensemble trained through t are there. It is zero while labels of t may
// come, and once it or a later one is served.
func (s *state) awaitedModels(t lethe.Timestep) role.Awaited {
	if served := s.models.served; served != nil && served.Through >= t {
		return role.Awaited{}
	}
	want, known := s.lineages.At(t)
	if !known {
		return role.Awaited{}
	}
	return role.Awaited{Through: t, Present: len(s.models.present(t, want)), Models: len(want)}
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
