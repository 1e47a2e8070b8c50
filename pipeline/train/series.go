package train

import (
	"bytes"
	"errors"
	"fmt"
	"slices"

	"lethe"
	"lethe/internal/sortedset"
	"lethe/internal/swapstore"
	"lethe/pipeline/role"
)

// series is what a model learnt through time, one value per timestep, in the store of
// a shard: what is kept, and what its topic has still to be told. One goroutine uses it at
// a time.
type series struct {
	// number is that of the model, in keys of its topic.
	number    lethe.ShardID
	component int
	store     role.Store
	// kept are the timesteps that have a value, ascending.
	kept []lethe.Timestep
	// unsent are the timesteps whose value is not in its topic, ascending. absent are those
	// of them that its topic was told to hold no longer, ascending.
	unsent, absent []lethe.Timestep
	// again are the timesteps whose value is to be said, whatever the topic holds, once there is one: they were gone, or
	// those after them are, and whoever scores has dropped what it knew of them. Ascending.
	again []lethe.Timestep
	// needed is the oldest timestep that a score may wait for. The topic holds values from
	// there on: older ones would cost a replay more than training does.
	needed lethe.Timestep
	// withdrawn are the timesteps whose value was not deleted from its topic yet,
	// ascending.
	withdrawn []lethe.Timestep
	// anew says that a value is made only for timesteps that a score waits for. One that
	// was unlearnt may never be made again: superseded are the timesteps whose value was
	// unlearnt and may be in its topic still, ascending.
	anew       bool
	superseded []lethe.Timestep
	// said are the timesteps whose digest was said, for the log, ascending: those of values that were thinned out
	// since are among them. lineages are those of values that were made since the start and are not.
	said     []lethe.Timestep
	lineages map[lethe.Timestep]lethe.Digest
	// fresh are values that were stored last and not published yet, so that they need
	// not be read again for that.
	fresh []learnt
}

// openSeries reads from a store what is kept of a component.
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
	// A mark without its value is that of one that was not stored.
	notKept := func(t lethe.Timestep) bool { return !s.holds(t) }
	s.unsent, s.absent = slices.DeleteFunc(s.unsent, notKept), slices.DeleteFunc(s.absent, notKept)
	return s, nil
}

// made removes everything that was made with something else than what is named here.
func (s *series) made(with string) error {
	key := append([]byte(madePrefix), byte(s.component))
	value, found, err := s.store.Get(key)
	if err != nil || found && string(value) == with {
		return err
	}
	if err := s.remove(sortedset.Of(slices.Concat(s.kept, s.superseded, s.said)), withdrawnPrefix); err != nil {
		return err
	}
	return s.store.Apply(func(w swapstore.Writer) error { return w.Set(key, []byte(with)) })
}

// newest returns the newest timestep that has a value, or NoTimestep.
func (s *series) newest() lethe.Timestep {
	if len(s.kept) == 0 {
		return lethe.NoTimestep
	}
	return s.kept[len(s.kept)-1]
}

// holds reports whether there is a value of a timestep.
func (s *series) holds(t lethe.Timestep) bool {
	_, found := slices.BinarySearch(s.kept, t)
	return found
}

// from returns the oldest timestep that a score may wait for of which shards have slices, or
// NoTimestep. It goes by needed, as what is dropped does, and not by what these shards have: while
// they wait for a slice that others have, what is made and dropped at once would be made for ever.
func (s *series) from(of shards) lethe.Timestep {
	if s.needed != lethe.NoTimestep {
		return s.needed
	}
	return of.after(lethe.NoTimestep)
}

// value reads what was learnt through a timestep.
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

// learnt is what was learnt through a timestep.
type learnt struct {
	at      lethe.Timestep
	value   []byte
	lineage lethe.Digest
}

// keep stores what was learnt, which has to be published.
func (s *series) keep(steps ...learnt) error {
	// The marks first: a value without one would never be published, while a mark
	// without its value is passed over.
	err := s.store.Apply(func(w swapstore.Writer) error {
		for _, step := range steps {
			if err := w.Set(learntKey(unsentPrefix, step.at, s.component), s.unsentMark(step.at)); err != nil {
				return err
			}
		}
		return nil
	})
	if err == nil {
		err = s.store.Apply(func(w swapstore.Writer) error {
			for _, step := range steps {
				err := w.Set(learntKey(checkpointPrefix, step.at, s.component), step.value)
				err = errors.Join(err, w.Delete(learntKey(saidPrefix, step.at, s.component)))
				if s.anew {
					err = errors.Join(err, w.Delete(learntKey(supersededPrefix, step.at, s.component)))
				}
				if err != nil {
					return err
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

// without returns the timesteps that are not among some.
func without(all, some []lethe.Timestep) []lethe.Timestep {
	return slices.DeleteFunc(all, func(t lethe.Timestep) bool { return slices.Contains(some, t) })
}

// absentMark and againMark are what a mark with unsentPrefix says of a timestep of absent, and of again.
func absentMark() []byte { return []byte{1} }
func againMark() []byte  { return []byte{2} }

// unsentMark is what the mark says of a timestep that is unsent.
func (s *series) unsentMark(t lethe.Timestep) []byte {
	if slices.Contains(s.again, t) {
		return againMark()
	}
	return nil
}

// setMarks writes a mark under a prefix for each of some timesteps.
func (s *series) setMarks(prefix string, value []byte, timesteps ...lethe.Timestep) error {
	return s.store.Apply(func(w swapstore.Writer) error {
		for _, t := range timesteps {
			if err := w.Set(learntKey(prefix, t, s.component), value); err != nil {
				return err
			}
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

// sayAgain has the value of a timestep said, whatever the topic holds, once there is one.
func (s *series) sayAgain(t lethe.Timestep) error {
	if err := s.setMarks(unsentPrefix, againMark(), t); err != nil {
		return err
	}
	if s.again = sortedset.Add(s.again, t); s.holds(t) {
		s.unsent, s.absent = sortedset.Add(s.unsent, t), without(s.absent, []lethe.Timestep{t})
	}
	return nil
}
