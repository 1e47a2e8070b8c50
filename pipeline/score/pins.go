package score

import (
	"fmt"
	"slices"

	"lethe"
	"lethe/internal/swapstore"
	"lethe/internal/timestepkey"
)

// Reasons of a timestep are made after its predictions, when a later ensemble may be served. The ensemble that made the
// predictions is kept until then.

// pin is an ensemble that is kept for reasons.
type pin struct {
	models []model
	// through and lineages show whether the ensemble has learnt from the present graphs.
	through  lethe.Timestep
	lineages []lethe.Digest
}

func pinKey(t lethe.Timestep) []byte { return timestepkey.New(pinPrefix, t) }

// pins are the kept ensembles, by timestep of the reasons.
type pins map[lethe.Timestep]pin

// hold reports whether a model is kept for reasons.
func (p pins) hold(m model) bool {
	for _, one := range p {
		if slices.Contains(one.models, m) {
			return true
		}
	}
	return false
}

// read reads a pin from the store, without the content of its models.
func (p pins) read(key, value []byte) error {
	t, err := timestepkey.Parse(pinPrefix, key)
	if err != nil {
		return err
	}
	models, err := decodeServed(value)
	p[t] = pin{models: models, through: lethe.NoTimestep}
	return err
}

// load completes the pins, and counts the alerts that wait for reasons.
func (e *explaining) load() error {
	s := e.state
	for t, p := range s.models.pins {
		if len(p.models) == 0 { // they were of other components: the pin is released
			continue
		}
		by, err := s.models.ensembleOf(p.models)
		if err != nil {
			return fmt.Errorf("ensemble that reasons of timestep %d are owed by: %w", t, err)
		}
		s.models.pins[t] = pin{p.models, by.Through, by.Lineages()}
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

// pinServed keeps the served ensemble for the reasons of a timestep.
func (e *explaining) pinServed(t lethe.Timestep) (write func(w swapstore.Writer)) {
	s := e.state
	s.models.pins[t] = pin{s.models.servedModels, s.models.served.Through, s.models.served.Lineages()}
	return func(w swapstore.Writer) { w.Set(pinKey(t), encodeServed(s.models.pins[t].models)) }
}

// unpin deletes a pin that is no longer in memory, and its models that are not needed otherwise.
func (e *explaining) unpin(w swapstore.Writer, t lethe.Timestep, p pin) {
	s := e.state
	w.Delete(pinKey(t))
	for _, m := range p.models {
		if !s.models.needs(m) {
			w.Delete(m.key())
		}
	}
}

// release releases pins that have learnt from graphs that have changed since, once the served ensemble is current and
// can make the reasons: they must be deleted before an erasure is acknowledged. It also releases pins of deleted
// timesteps.
func (e *explaining) release() error {
	s := e.state
	for t, p := range s.models.pins {
		next, known := s.links[t]
		if want, learnt := s.lineages.At(p.through); known && learnt && slices.Equal(want, p.lineages) {
			continue
		}
		delete(s.models.pins, t)
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
