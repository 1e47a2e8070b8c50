package deletions

import (
	"fmt"
	"slices"

	"lethe"
	"lethe/deletions/internal/record"
	"lethe/deletions/scan"
)

// Complete returns the targets with the last timestep of each subject.
func (e *Entry) Complete(secret lethe.Secret, targets []lethe.Target) []lethe.Target {
	if len(e.Subjects) == 0 {
		return targets
	}
	out := slices.Clone(targets)
	for i := range out {
		if out[i].Kind != lethe.SubjectTarget {
			continue
		}
		hash := secret.Suppressed(out[i])
		for _, subject := range e.Subjects {
			if subject.Target == hash {
				out[i].Until = subject.Until
			}
		}
	}
	return out
}

// Decide sets the last timestep of subjects that have none.
func (e *Entry) Decide(until lethe.Timestep) {
	for i := range e.Subjects {
		if e.Subjects[i].Until == lethe.NoTimestep {
			e.Subjects[i].Until = until
		}
	}
	for i, f := range e.Progress.Fingerprints {
		if f.Kind == scan.KindSubject && f.Until == lethe.NoTimestep {
			e.Progress.Fingerprints[i].Until = until
		}
	}
}

// Carries records the carriers of the subjects, and their fingerprints: their records are dropped from now on, and so
// are rejected records that name them. several counts carriers with other subjects too.
func (e *Entry) Carries(secret lethe.Secret, carried []lethe.Target, several int) error {
	p := &e.Progress
	known := make(map[scan.Fingerprint]bool, len(p.Fingerprints))
	for _, f := range p.Fingerprints {
		known[f] = true
	}
	for _, t := range carried {
		p.Carried = append(p.Carried, secret.Suppressed(t))
		forms, _, err := scan.TargetFingerprints(secret, t)
		if err != nil {
			return fmt.Errorf("what carries a subject: %w", err)
		}
		isKnown := func(f scan.Fingerprint) bool { return known[f] }
		p.Fingerprints = append(p.Fingerprints, slices.DeleteFunc(forms, isKnown)...)
	}
	slices.SortFunc(p.Carried, record.CompareDigests)
	p.Carried = slices.Compact(p.Carried)
	p.Counts.Carried, p.Counts.SeveralSubjects = len(p.Carried), several
	return nil
}

// FoundInto copies the results for the subjects into a progress.
func (e *Entry) FoundInto(p *Progress) {
	if len(e.Subjects) == 0 {
		return
	}
	p.Carried, p.Fingerprints = e.Progress.Carried, e.Progress.Fingerprints
	p.Counts.Carried, p.Counts.SeveralSubjects = e.Progress.Counts.Carried, e.Progress.Counts.SeveralSubjects
}

// Found copies the results for the subjects into an entry.
func (e *Entry) Found(found *Entry) {
	if len(found.Subjects) > 0 {
		e.Subjects = slices.Clone(found.Subjects)
		found.FoundInto(&e.Progress)
	}
}

// Suppressed are the keyed hashes to suppress: targets and carriers of subjects.
func (e *Entry) Suppressed() []lethe.Digest { return slices.Concat(e.Targets, e.Progress.Carried) }
