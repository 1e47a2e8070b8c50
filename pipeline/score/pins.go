package score

import (
	"fmt"
	"slices"

	"lethe"
	"lethe/internal/swapstore"
	"lethe/internal/timestepkey"
)

// A timestep's reasons are made after its predictions, when a later ensemble may be served. Until then the ensemble
// that made the predictions is kept.

// pin is an ensemble that reasons are owed by.
type pin struct {
	models []model
	// through and lineages are the ensemble's, for whether it has learnt from graphs as they are.
	through  lethe.Timestep
	lineages []lethe.Digest
}

func pinKey(t lethe.Timestep) []byte { return timestepkey.New(pinPrefix, t) }

// pins are the ensembles that reasons are owed by, by the timestep of these.
type pins map[lethe.Timestep]pin

// hold reports whether reasons are owed by a model.
func (p pins) hold(m model) bool {
	for _, one := range p {
		if slices.Contains(one.models, m) {
			return true
		}
	}
	return false
}

// read takes a pin from the store, but for what its models say of themselves.
func (p pins) read(key, value []byte) error {
	t, err := timestepkey.Parse(pinPrefix, key)
	if err != nil {
		return err
	}
	models, err := decodeServed(value)
	p[t] = pin{models: models, through: lethe.NoTimestep}
	return err
}

// load completes the pins, and counts the alerts that wait for reasons. A pin of other components fits nothing, and is
// released.
func (e *explaining) load() error {
	s := e.state
	for t, p := range s.pins {
		if len(p.models) != s.models() {
			continue
		}
		by, err := s.ensembleOf(p.models)
		if err != nil {
			return fmt.Errorf("ensemble that reasons of timestep %d are owed by: %w", t, err)
		}
		s.pins[t] = pin{p.models, by.Through, by.Lineages()}
	}
	for t, at := range s.links {
		if at.owed == owesNothing {
			continue
		}
		alerts, err := readExplained(s.store, t)
		if err != nil {
			return err
		}
		e.pending[t] = alerts.owed()
	}
	return nil
}

// pinServed has the served ensemble kept for the reasons of a timestep.
func (e *explaining) pinServed(t lethe.Timestep) (write func(w swapstore.Writer)) {
	s := e.state
	s.pins[t] = pin{s.servedModels, s.served.Through, s.served.Lineages()}
	return func(w swapstore.Writer) { w.Set(pinKey(t), encodeServed(s.pins[t].models)) }
}

// unpin deletes a pin that is not in memory any more, and its models that nothing else needs.
func (e *explaining) unpin(w swapstore.Writer, t lethe.Timestep, p pin) {
	s := e.state
	w.Delete(pinKey(t))
	for _, m := range p.models {
		if !slices.Contains(s.servedModels, m) && !s.pins.hold(m) && s.candidates[m.candidate].digest != m.digest {
			w.Delete(m.key())
		}
	}
}

// release has reasons made by the served ensemble, once it is current, where the one that owes them has learnt from
// graphs that have changed since: it must be gone before an erasure is acknowledged. The pin of a timestep that is gone
// goes, too.
func (e *explaining) release() error {
	s := e.state
	for t, p := range s.pins {
		next, known := s.links[t]
		if want, learnt := s.lineages.At(p.through); known && learnt && slices.Equal(want, p.lineages) {
			continue
		}
		delete(s.pins, t)
		next.owed = owesAgain
		err := s.store.Apply(func(w swapstore.Writer) error {
			e.unpin(w, t, p)
			if known {
				next.settle(w, t)
			}
			return nil
		})
		if err != nil {
			return fmt.Errorf("release the ensemble that reasons of timestep %d are owed by: %w", t, err)
		}
		if known {
			s.links[t] = next
		}
		e.overtake(t)
	}
	return nil
}
