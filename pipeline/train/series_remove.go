package train

import (
	"slices"

	"lethe"
	"lethe/internal/sortedset"
	"lethe/internal/swapstore"
)

// removeFrom unlinks the values from a timestep on.
func (s *series) removeFrom(t lethe.Timestep) error {
	first, _ := slices.BinarySearch(s.kept, t)
	said, _ := slices.BinarySearch(s.said, t)
	mark := ""
	if s.anew {
		mark = supersededPrefix
	}
	return s.remove(sortedset.Of(slices.Concat(s.kept[first:], s.said[said:])), mark)
}

// dropBefore unlinks the values before a timestep, which nobody needs any more, and
// has them deleted from their topic, with those that were unlearnt.
func (s *series) dropBefore(t lethe.Timestep) error {
	end, _ := slices.BinarySearch(s.kept, t)
	old, _ := slices.BinarySearch(s.superseded, t)
	return s.remove(sortedset.Of(slices.Concat(s.kept[:end], s.superseded[:old])), withdrawnPrefix)
}

// thin unlinks the values that no score waits for and that are not milestones, once their topic is without them and
// their digests are said: they are functions of the slices, and are made again where one is needed. The newest stays,
// for training goes on from it.
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
			if err := deleteLearnt(w, t, s.component, checkpointPrefix, unsentPrefix); err != nil {
				return err
			}
		}
		return nil
	})
	if err == nil {
		s.kept, s.unsent, s.absent = without(s.kept, gone), without(s.unsent, gone), without(s.absent, gone)
	}
	return err
}

// remove unlinks values and leaves a mark with this prefix, if any: that their topic is to
// be told, or that it has what was unlearnt.
func (s *series) remove(gone []lethe.Timestep, mark string) error {
	if len(gone) == 0 {
		return nil
	}
	gone = slices.Clone(gone)
	err := s.store.Apply(func(w swapstore.Writer) error {
		for _, t := range gone {
			if err := deleteLearnt(w, t, s.component, checkpointPrefix, unsentPrefix, supersededPrefix, saidPrefix); err != nil {
				return err
			}
			if slices.Contains(s.again, t) {
				if err := w.Set(learntKey(unsentPrefix, t, s.component), againMark()); err != nil {
					return err
				}
			}
			if mark == "" {
				continue
			}
			if err := w.Set(learntKey(mark, t, s.component), nil); err != nil {
				return err
			}
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
