package lethe

import "slices"

// Suppressions are the keyed hashes (Secret.Suppressed) of erased transactions, payments and subjects, subjects up
// to a timestep. The zero value is empty.
type Suppressions struct {
	hashes   map[Digest]struct{}
	subjects map[Digest]Timestep
}

// Add adds hashes and subjects. For a known subject the later timestep applies.
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

// Lift removes hashes, including those of subjects. Subjects in still stay suppressed, up to an earlier timestep.
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

// Lacking returns the hashes and subjects that Add would change, without duplicates.
func (s *Suppressions) Lacking(hashes []Digest, subjects []SubjectUntil) (fresh []Digest, later []SubjectUntil) {
	seen := make(map[Digest]struct{}) // a start may bring all hashes of the ledger
	for _, hash := range hashes {
		if _, again := seen[hash]; !again && !s.Has(hash) {
			seen[hash], fresh = struct{}{}, append(fresh, hash)
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

// Has reports whether a hash is suppressed.
func (s *Suppressions) Has(hash Digest) bool {
	_, found := s.hashes[hash]
	return found
}

// Any reports whether there are any.
func (s *Suppressions) Any() bool { return len(s.hashes) > 0 }

// Take reports whether one of the subjects is erased up to this timestep, so that its carrier
// must be dropped.
func (s *Suppressions) Take(t Timestep, subjects []Digest) bool {
	return slices.ContainsFunc(subjects, func(subject Digest) bool {
		until, found := s.subjects[subject]
		return found && t <= until
	})
}

// AnySubject reports whether any subject is suppressed.
func (s *Suppressions) AnySubject() bool { return len(s.subjects) > 0 }
