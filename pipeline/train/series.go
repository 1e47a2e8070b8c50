package train

import (
	"bytes"
	"fmt"
	"slices"

	"lethe"
	"lethe/internal/sortedset"
	"lethe/internal/swapstore"
	"lethe/pipeline/role"
)

// series is a model's values by timestep in a shard's store, and what is still to be published of them. One
// goroutine uses it at a time.
type series struct {
	number    lethe.ShardID
	component int
	store     role.Store
	// All lists of timesteps ascend. kept have a value.
	kept []lethe.Timestep
	// unsent have a value that its topic lacks; absent are those of them deleted from the topic.
	unsent, absent []lethe.Timestep
	// again must be published whatever the topic has, as they or later ones were gone and score has dropped them.
	again []lethe.Timestep
	// needed is the oldest timestep that a score may wait for. The topic has values from there on.
	needed lethe.Timestep
	// withdrawn are to be deleted from the topic.
	withdrawn []lethe.Timestep
	// anew: values are made only if a score waits for them. superseded were unlearnt, perhaps for good, and may still
	// be in the topic.
	anew       bool
	superseded []lethe.Timestep
	// said have a published digest, thinned ones too. lineages are those of new values without.
	said     []lethe.Timestep
	lineages map[lethe.Timestep]lethe.Digest
	// fresh are the values stored last, not to be read again for publication.
	fresh []learnt
}

// openSeries reads a component's values and marks.
func openSeries(store role.Store, number lethe.ShardID, component int) (*series, error) {
	s := &series{number: number, component: component, store: store, needed: lethe.NoTimestep}
	s.lineages = make(map[lethe.Timestep]lethe.Digest)
	for prefix, noted := range map[string]*[]lethe.Timestep{
		checkpointPrefix: &s.kept, unsentPrefix: &s.unsent, withdrawnPrefix: &s.withdrawn,
		supersededPrefix: &s.superseded, saidPrefix: &s.said,
	} {
		if err := store.Scan([]byte(prefix), func(key, value []byte) error {
			t, of, err := splitLearnt(prefix, key)
			if of == component {
				*noted = append(*noted, t)
				if prefix == unsentPrefix && bytes.Equal(value, absentMark()) {
					s.absent = append(s.absent, t)
				}
				if prefix == unsentPrefix && bytes.Equal(value, againMark()) {
					s.again = append(s.again, t)
				}
			}
			return err
		}); err != nil {
			return nil, err
		}
	}
	// A mark without a value: it was not stored.
	notKept := func(t lethe.Timestep) bool { return !s.holds(t) }
	s.unsent, s.absent = slices.DeleteFunc(s.unsent, notKept), slices.DeleteFunc(s.absent, notKept)
	return s, nil
}

// made removes everything made with something else.
func (s *series) made(with string) error {
	key := append([]byte(madePrefix), byte(s.component))
	value, found, err := s.store.Get(key)
	if err != nil || found && string(value) == with {
		return err
	}
	if err := s.remove(sortedset.Of(slices.Concat(s.kept, s.superseded, s.said)), withdrawnPrefix); err != nil {
		return err
	}
	return swapstore.Set(s.store, key, []byte(with))
}

func (s *series) newest() lethe.Timestep {
	if len(s.kept) == 0 {
		return lethe.NoTimestep
	}
	return s.kept[len(s.kept)-1]
}

func (s *series) holds(t lethe.Timestep) bool {
	_, found := slices.BinarySearch(s.kept, t)
	return found
}

// from returns the oldest timestep to make, or NoTimestep. It depends on needed, as dropping does: otherwise a value
// could be made and dropped forever while a slice is missing here.
func (s *series) from(of shards) lethe.Timestep {
	if s.needed != lethe.NoTimestep {
		return s.needed
	}
	return of.after(lethe.NoTimestep)
}

// value reads a value.
func (s *series) value(t lethe.Timestep) ([]byte, error) {
	value, found, err := s.store.Get(learntKey(checkpointPrefix, t, s.component))
	if err == nil && !found {
		err = errMissing
	}
	if err != nil {
		return nil, fmt.Errorf("model %d: checkpoint after timestep %d: %w", s.number, t, err)
	}
	return value, nil
}

// learnt is a value.
type learnt struct {
	at      lethe.Timestep
	value   []byte
	lineage lethe.Digest
}

// keep stores values to be published.
func (s *series) keep(steps ...learnt) error {
	// Marks first: a value without one would never be published; a mark without a value is ignored.
	err := s.store.Apply(func(w swapstore.Writer) error {
		for _, step := range steps {
			w.Set(learntKey(unsentPrefix, step.at, s.component), s.unsentMark(step.at))
		}
		return nil
	})
	if err == nil {
		err = s.store.Apply(func(w swapstore.Writer) error {
			for _, step := range steps {
				w.Set(learntKey(checkpointPrefix, step.at, s.component), step.value)
				w.Delete(learntKey(saidPrefix, step.at, s.component))
				if s.anew {
					w.Delete(learntKey(supersededPrefix, step.at, s.component))
				}
			}
			return nil
		})
	}
	if err != nil {
		return fmt.Errorf("model %d: store checkpoints from timestep %d on: %w", s.number, steps[0].at, err)
	}
	s.fresh = steps
	for _, step := range steps {
		s.lineages[step.at] = step.lineage
		s.said = without(s.said, []lethe.Timestep{step.at})
		s.kept, s.unsent = sortedset.Add(s.kept, step.at), sortedset.Add(s.unsent, step.at)
		s.absent = without(s.absent, []lethe.Timestep{step.at})
		s.superseded = without(s.superseded, []lethe.Timestep{step.at})
	}
	return nil
}

func without(all, some []lethe.Timestep) []lethe.Timestep {
	return slices.DeleteFunc(all, func(t lethe.Timestep) bool { return slices.Contains(some, t) })
}

// Values of marks under unsentPrefix for absent and again.
func absentMark() []byte { return []byte{1} }
func againMark() []byte  { return []byte{2} }

func (s *series) unsentMark(t lethe.Timestep) []byte {
	if slices.Contains(s.again, t) {
		return againMark()
	}
	return nil
}

// setMarks writes a mark for each timestep.
func (s *series) setMarks(prefix string, value []byte, timesteps ...lethe.Timestep) error {
	return s.store.Apply(func(w swapstore.Writer) error {
		for _, t := range timesteps {
			w.Set(learntKey(prefix, t, s.component), value)
		}
		return nil
	})
}

// withdraw implements learner.
func (s *series) withdraw(t, newest lethe.Timestep) error {
	for _, again := range []lethe.Timestep{t, newest} {
		if again == lethe.NoTimestep {
			continue
		}
		if err := s.sayAgain(again); err != nil {
			return err
		}
	}
	err := s.setMarks(withdrawnPrefix, nil, t)
	if err == nil {
		s.withdrawn = sortedset.Add(s.withdrawn, t)
	}
	return err
}

// sayAgain has a value published whatever the topic has, once there is one.
func (s *series) sayAgain(t lethe.Timestep) error {
	if err := s.setMarks(unsentPrefix, againMark(), t); err != nil {
		return err
	}
	if s.again = sortedset.Add(s.again, t); s.holds(t) {
		s.unsent, s.absent = sortedset.Add(s.unsent, t), without(s.absent, []lethe.Timestep{t})
	}
	return nil
}
