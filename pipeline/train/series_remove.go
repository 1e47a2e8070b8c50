package train

import (
	"slices"

	"lethe"
	"lethe/internal/sortedset"
	"lethe/internal/swapstore"
)

// removeFrom removes the values from a timestep on.
func (s *series) removeFrom(t lethe.Timestep) error {
	first, _ := slices.BinarySearch(s.kept, t)
	said, _ := slices.BinarySearch(s.said, t)
	mark := ""
	if s.anew {
		mark = supersededPrefix
	}
	return s.remove(sortedset.Of(slices.Concat(s.kept[first:], s.said[said:])), mark)
}

// dropBefore removes the values before a timestep, superseded ones too, from their topic as well.
func (s *series) dropBefore(t lethe.Timestep) error {
	end, _ := slices.BinarySearch(s.kept, t)
	old, _ := slices.BinarySearch(s.superseded, t)
	return s.remove(sortedset.Of(slices.Concat(s.kept[:end], s.superseded[:old])), withdrawnPrefix)
}

// thin removes values that are neither needed nor milestones, once absent from their topic and with a published
// digest. They can be remade from slices. The newest stays, to continue from.
func (m *model) thin() error {
	s := m.series
	var gone []lethe.Timestep
	for _, t := range s.kept {
		_, absent := slices.BinarySearch(s.absent, t)
		_, said := slices.BinarySearch(s.said, t)
		if t < min(s.needed, s.newest()) && absent && said && !m.shards.milestone(t) {
			gone = append(gone, t)
		}
	}
	if len(gone) == 0 {
		return nil
	}
	err := s.store.Apply(func(w swapstore.Writer) error {
		for _, t := range gone {
			deleteLearnt(w, t, s.component, checkpointPrefix, unsentPrefix)
		}
		return nil
	})
	if err == nil {
		s.kept, s.unsent, s.absent = without(s.kept, gone), without(s.unsent, gone), without(s.absent, gone)
	}
	return err
}

// remove removes values and leaves a mark under a prefix, if any.
func (s *series) remove(gone []lethe.Timestep, mark string) error {
	if len(gone) == 0 {
		return nil
	}
	gone = slices.Clone(gone)
	err := s.store.Apply(func(w swapstore.Writer) error {
		for _, t := range gone {
			deleteLearnt(w, t, s.component, checkpointPrefix, unsentPrefix, supersededPrefix, saidPrefix)
			if slices.Contains(s.again, t) {
				w.Set(learntKey(unsentPrefix, t, s.component), againMark())
			}
			if mark == "" {
				continue
			}
			w.Set(learntKey(mark, t, s.component), nil)
		}
		return nil
	})
	if err != nil {
		return err
	}
	s.fresh = nil
	for _, of := range []*[]lethe.Timestep{&s.kept, &s.unsent, &s.absent, &s.superseded, &s.said} {
		*of = without(*of, gone)
	}
	for _, t := range gone {
		delete(s.lineages, t)
	}
	switch mark {
	case withdrawnPrefix:
		s.withdrawn = sortedset.Add(s.withdrawn, gone...)
	case supersededPrefix:
		s.superseded = sortedset.Add(s.superseded, gone...)
	}
	return nil
}
