package score

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"lethe"
	"lethe/ingest/bus"
	"lethe/internal/swapstore"
	"lethe/pipeline/role"
	"lethe/scoring/ensemble"
	"lethe/scoring/meta"
	"lethe/trainer"
)

// models are the stored models: candidates for serving, those of the served ensemble, and those that reasons wait for.
// One goroutine uses it.
type models struct {
	store      role.Store
	layout     ensemble.Layout
	withMeta   bool
	candidates map[candidate]arrived
	// served is the served ensemble, or nil; servedModels identify its models, by number.
	served       *ensemble.Ensemble
	servedModels []model
	// pins are ensembles that are kept for reasons of a timestep.
	pins pins
}

// arrived is a checkpoint that may be served: its lineage, its digest and the revision of its message.
type arrived struct {
	lineage, digest lethe.Digest
	revision        lethe.Revision
}

func newModels(store role.Store, layout ensemble.Layout, over *meta.Config) *models {
	return &models{
		store: store, layout: layout, withMeta: over != nil, candidates: make(map[candidate]arrived), pins: make(pins),
	}
}

// count is the number of models of an ensemble, including the meta-model, which is the last one.
func (s *models) count() int {
	if s.withMeta {
		return s.layout.Models() + 1
	}
	return s.layout.Models()
}

// isMeta reports whether a model's number is that of the meta-model.
func (s *models) isMeta(number lethe.ShardID) bool { return int(number) == s.layout.Models() }

// errOtherComponents means that a store has models of other components.
var errOtherComponents = errors.New("the models are of other trainer.components")

// kinds has the number of models, and whether the last one is a meta-model. Models of an ensemble that differs in this
// cannot be read as those of this one.
func (s *models) kinds() []byte {
	out := binary.BigEndian.AppendUint32(nil, uint32(s.layout.Models()))
	if s.withMeta {
		out = append(out, 'm')
	}
	return out
}

// ofTheseKinds reports whether the store has models of these kinds.
func (s *models) ofTheseKinds() (bool, error) {
	before, found, err := s.store.Get([]byte(kindsKey))
	return found && bytes.Equal(before, s.kinds()), err
}

// forgetOthers forgets all models if they are of other kinds, and the position in models.v1: those of components that
// stay are not published again. A pin stays without models until the served ensemble can make its reasons.
func (s *models) forgetOthers() error {
	if same, err := s.ofTheseKinds(); same || err != nil {
		return err
	}
	var gone, pins [][]byte
	for prefix, to := range map[string]*[][]byte{
		candidatePrefix: &gone, offsetPrefix + string(bus.Models) + "/": &gone, pinPrefix: &pins,
	} {
		err := s.store.Scan([]byte(prefix), func(key, _ []byte) error {
			*to = append(*to, bytes.Clone(key))
			return nil
		})
		if err != nil {
			return err
		}
	}
	return s.store.Apply(func(w swapstore.Writer) error {
		for _, key := range gone {
			w.Delete(key)
		}
		for _, key := range pins {
			w.Set(key, encodeServed(nil))
		}
		w.Delete([]byte(servedKey))
		w.Set([]byte(kindsKey), s.kinds())
		return nil
	})
}

// readers read the store, by prefix of the keys.
func (s *models) readers() map[string]func(key, value []byte) error {
	return map[string]func(key, value []byte) error{
		candidatePrefix: func(key, value []byte) error {
			m, revision, err := candidateOf(key, value)
			if err != nil {
				return err
			}
			a, err := s.read(m)
			if err == nil {
				s.candidates[m.candidate] = arrived{a.lineage(), m.digest, revision}
			}
			return err
		},
		pinPrefix: s.pins.read,
	}
}

// read reads a stored model.
func (s *models) read(m model) (artefact, error) { return artefactOf(s.store, m, s.isMeta(m.shard)) }

// loadServed reads the served ensemble.
func (s *models) loadServed() error {
	value, found, err := s.store.Get([]byte(servedKey))
	if err != nil || !found {
		return err
	}
	if s.servedModels, err = decodeServed(value); err == nil {
		s.served, err = s.ensembleOf(s.servedModels)
	}
	return err
}

// uses reports whether a model is of the served ensemble or kept for reasons.
func (s *models) uses(m model) bool { return slices.Contains(s.servedModels, m) || s.pins.hold(m) }

// needs reports whether a model is used, or is a candidate.
func (s *models) needs(m model) bool {
	return s.candidates[m.candidate].digest == m.digest || s.uses(m)
}

// ensembleOf reads the models of an ensemble.
func (s *models) ensembleOf(keys []model) (*ensemble.Ensemble, error) {
	var list []*trainer.Checkpoint
	var over *meta.Model
	for _, key := range keys {
		a, err := s.read(key)
		if err != nil {
			return nil, err
		}
		if a.over != nil {
			over = a.over
		} else {
			list = append(list, a.checkpoint)
		}
	}
	return ensemble.Of(list, over)
}

// renewed reports whether every checkpoint of the served timestep has arrived again, with the wanted lineages: they
// were retrained, perhaps with another kernel set, which lineages do not show.
func (s *models) renewed(want []lethe.Digest) bool {
	for number := range s.servedModels {
		if s.candidates[candidate{s.served.Through, lethe.ShardID(number)}].lineage != want[number] {
			return false
		}
	}
	return true
}

// present returns the models of the wanted lineages for the ensemble trained through t, arrived or served. Those that
// are missing are left out.
func (s *models) present(t lethe.Timestep, want []lethe.Digest) (there []model) {
	var serving []lethe.Digest
	if s.served != nil {
		serving = s.served.Lineages()
	}
	for number, lineage := range want {
		c := candidate{t, lethe.ShardID(number)}
		switch arrived := s.candidates[c]; {
		case arrived.lineage == lineage:
			there = append(there, model{c, arrived.digest})
		case number < len(serving) && serving[number] == lineage:
			there = append(there, s.servedModels[number])
		}
	}
	return there
}

// adopt swaps in the ensemble trained through t if all its models are present, and reports whether it did.
func (s *models) adopt(t lethe.Timestep, want []lethe.Digest) (bool, error) {
	keys := s.present(t, want)
	if len(keys) < len(want) {
		return false, nil
	}
	next, err := s.ensembleOf(keys)
	if err != nil {
		return false, err
	}
	return true, s.swap(next, keys)
}

// swap makes an ensemble the served one, with one write, and deletes models that are no longer needed. A model of the
// same timestep that is not in the ensemble stays: its manifest may not have arrived yet.
func (s *models) swap(next *ensemble.Ensemble, keys []model) error {
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
		for _, c := range gone {
			w.Delete(c.key())
		}
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

// unserve ends serving: all timesteps that the ensemble learnt from are deleted.
func (s *models) unserve() error {
	err := s.store.Apply(func(w swapstore.Writer) error {
		for _, m := range s.servedModels {
			if !s.pins.hold(m) {
				w.Delete(m.key())
			}
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

// unlinkStale unlinks the models that nothing needs.
func (s *models) unlinkStale() error {
	var stale [][]byte
	err := s.store.Scan([]byte(modelPrefix), func(key, _ []byte) error {
		m, err := modelOf(key)
		if err == nil && !s.needs(m) {
			stale = append(stale, m.key())
		}
		return err
	})
	if err == nil && len(stale) > 0 {
		err = s.store.Apply(func(w swapstore.Writer) error {
			for _, key := range stale {
				w.Delete(key)
			}
			return nil
		})
	}
	if err != nil {
		return fmt.Errorf("remove models: %w", err)
	}
	return nil
}
