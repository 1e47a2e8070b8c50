package train

import (
	"fmt"
	"slices"

	"lethe"
	"lethe/canonical"
	"lethe/internal/sortedset"
	"lethe/internal/swapstore"
	"lethe/pipeline/role"
	"lethe/scoring/meta"
	"lethe/trainer"
)

// series is a model's values by timestep in a shard's store. One goroutine uses it at a time.
type series struct {
	number    lethe.ShardID
	component int
	store     role.Store
	// All lists of timesteps ascend. kept have a value.
	kept []lethe.Timestep
	// needed is the oldest timestep that a score may wait for. The topic has values from there on.
	needed lethe.Timestep
	// republished: the model that score has dropped and requested again was published again.
	republished bool
	// onDemand: values are made only if a score waits for them.
	onDemand bool
	// committed have a published digest, even if the value was thinned out.
	committed []lethe.Timestep
	// lineages and digests are cached.
	lineages, digests map[lethe.Timestep]lethe.Digest
	// fresh are the values stored last, not to be read again for publication.
	fresh []learnt
}

// openSeries reads which values a component has.
func openSeries(store role.Store, number lethe.ShardID, component int) (*series, error) {
	s := &series{number: number, component: component, store: store, needed: lethe.NoTimestep}
	s.lineages, s.digests = make(map[lethe.Timestep]lethe.Digest), make(map[lethe.Timestep]lethe.Digest)
	for prefix, list := range map[string]*[]lethe.Timestep{checkpointPrefix: &s.kept, committedPrefix: &s.committed} {
		if err := store.Scan([]byte(prefix), func(key, _ []byte) error {
			t, of, err := splitLearnt(prefix, key)
			if of == component {
				*list = append(*list, t)
			}
			return err
		}); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// made removes everything made with something else.
func (s *series) made(with string) error {
	key := append([]byte(madePrefix), byte(s.component))
	value, found, err := s.store.Get(key)
	if err != nil || found && string(value) == with {
		return err
	}
	if err := s.removeFrom(0); err != nil {
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
	if at := slices.IndexFunc(s.fresh, func(step learnt) bool { return step.at == t }); at >= 0 {
		return s.fresh[at].value, nil
	}
	value, found, err := s.store.Get(learntKey(checkpointPrefix, t, s.component))
	if err == nil && !found {
		err = errMissing
	}
	if err != nil {
		return nil, fmt.Errorf("model %d: checkpoint after timestep %d: %w", s.number, t, err)
	}
	return value, nil
}

// digest returns the digest of a value.
func (s *series) digest(t lethe.Timestep) (lethe.Digest, error) {
	if digest, known := s.digests[t]; known {
		return digest, nil
	}
	value, err := s.value(t)
	if err == nil {
		s.digests[t] = canonical.DigestOf(value)
	}
	return s.digests[t], err
}

// lineage returns the lineage of a value.
func (s *series) lineage(t lethe.Timestep) (lethe.Digest, error) {
	if lineage, known := s.lineages[t]; known {
		return lineage, nil
	}
	value, err := s.value(t)
	if err == nil {
		s.lineages[t], _, err = lineageOf(s, value)
	}
	if err != nil {
		return lethe.Digest{}, fmt.Errorf("model %d: checkpoint after timestep %d: %w", s.number, t, err)
	}
	return s.lineages[t], nil
}

// lineageOf decodes the lineage of a value, and the value itself if it is a checkpoint.
func lineageOf(s *series, value []byte) (lethe.Digest, *trainer.Checkpoint, error) {
	if s.component == overall {
		m, err := meta.Decode(value)
		if err != nil {
			return lethe.Digest{}, nil, err
		}
		return m.Lineage, nil, nil
	}
	checkpoint, err := trainer.DecodeCheckpoint(value)
	if err != nil {
		return lethe.Digest{}, nil, err
	}
	return checkpoint.Lineage, checkpoint, nil
}

// learnt is a value.
type learnt struct {
	at      lethe.Timestep
	value   []byte
	lineage lethe.Digest
}

// keep stores values. adopted: another process has made them.
func (s *series) keep(adopted bool, steps ...learnt) error {
	err := s.store.Apply(func(w swapstore.Writer) error {
		for _, step := range steps {
			w.Set(learntKey(checkpointPrefix, step.at, s.component), step.value)
			w.Delete(learntKey(committedPrefix, step.at, s.component))
		}
		if adopted {
			w.Set(append([]byte(adoptedPrefix), byte(s.component)), nil)
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("model %d: store checkpoints from timestep %d on: %w", s.number, steps[0].at, err)
	}
	s.fresh = steps
	for _, step := range steps {
		s.lineages[step.at], s.digests[step.at] = step.lineage, canonical.DigestOf(step.value)
		s.committed, s.kept = without(s.committed, []lethe.Timestep{step.at}), sortedset.Add(s.kept, step.at)
	}
	return nil
}

func without(all, some []lethe.Timestep) []lethe.Timestep {
	return slices.DeleteFunc(all, func(t lethe.Timestep) bool { return slices.Contains(some, t) })
}

// removeFrom removes the values from a timestep on.
func (s *series) removeFrom(t lethe.Timestep) error {
	first, _ := slices.BinarySearch(s.kept, t)
	committed, _ := slices.BinarySearch(s.committed, t)
	return s.remove(sortedset.Of(slices.Concat(s.kept[first:], s.committed[committed:])), committedPrefix)
}

// dropBefore removes the values before a timestep.
func (s *series) dropBefore(t lethe.Timestep) error {
	end, _ := slices.BinarySearch(s.kept, t)
	return s.remove(s.kept[:end], committedPrefix)
}

// remove removes values, and their keys under other prefixes.
func (s *series) remove(gone []lethe.Timestep, prefixes ...string) error {
	if len(gone) == 0 {
		return nil
	}
	gone = slices.Clone(gone)
	err := s.store.Apply(func(w swapstore.Writer) error {
		for _, t := range gone {
			for _, prefix := range append(prefixes, checkpointPrefix) {
				w.Delete(learntKey(prefix, t, s.component))
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	s.fresh, s.kept = nil, without(s.kept, gone)
	if slices.Contains(prefixes, committedPrefix) {
		s.committed = without(s.committed, gone)
	}
	for _, t := range gone {
		delete(s.lineages, t)
		delete(s.digests, t)
	}
	return nil
}
