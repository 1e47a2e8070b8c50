package lethe

import "slices"

// Suppressions are the keyed hashes of what is erased (Secret.Suppressed): of transactions, payments and subjects, these
// up to a timestep. The zero value is none.
type Suppressions struct {
	hashes   map[Digest]struct{}
	subjects map[Digest]Timestep
}

// Add takes hashes in, and subjects. A subject that is there goes until the later timestep.
func (s *Suppressions) Add(hashes []Digest, subjects ...SubjectUntil) {
	if s.hashes == nil {
		s.hashes, s.subjects = make(map[Digest]struct{}), make(map[Digest]Timestep)
	}
	for _, hash := range hashes {
		s.hashes[hash] = struct{}{}
	}
	for _, subject := range subjects {
		s.hashes[subject.Target] = struct{}{}
		s.subjects[subject.Target] = max(s.subjects[subject.Target], subject.Until)
	}
}

// Lift takes hashes out, be they of subjects or not; some subjects go until an earlier timestep from then on.
func (s *Suppressions) Lift(hashes []Digest, still ...SubjectUntil) {
	for _, hash := range hashes {
		delete(s.hashes, hash)
		delete(s.subjects, hash)
	}
	for _, subject := range still {
		delete(s.subjects, subject.Target)
	}
	s.Add(nil, still...)
}

// Lacking are those hashes and subjects that Add would change something with, each once.
func (s *Suppressions) Lacking(hashes []Digest, subjects []SubjectUntil) (fresh []Digest, later []SubjectUntil) {
	for _, hash := range hashes {
		if !s.Has(hash) && !slices.Contains(fresh, hash) {
			fresh = append(fresh, hash)
		}
	}
	until := make(map[Digest]Timestep)
	for _, subject := range subjects {
		until[subject.Target] = max(until[subject.Target], subject.Until)
	}
	for target, t := range until {
		if known, found := s.subjects[target]; !found || known < t {
			later = append(later, SubjectUntil{target, t})
		}
	}
	return fresh, later
}

// Has reports whether something is erased.
func (s *Suppressions) Has(hash Digest) bool {
	_, found := s.hashes[hash]
	return found
}

// Any reports whether there are any.
func (s *Suppressions) Any() bool { return len(s.hashes) > 0 }

// Take reports whether what carries subjects in a timestep goes with one of them.
func (s *Suppressions) Take(t Timestep, subjects []Digest) bool {
	return slices.ContainsFunc(subjects, func(subject Digest) bool {
		until, found := s.subjects[subject]
		return found && t <= until
	})
}

// AnySubject reports whether there are subjects among them.
func (s *Suppressions) AnySubject() bool { return len(s.subjects) > 0 }
