package score

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"lethe"
	"lethe/internal/swapstore"
	"lethe/pipeline/role"
)

// hidden are the suppressed targets of erasures: of them nothing more is published. They are in the store and in
// memory. One goroutine uses it.
type hidden struct {
	store role.Store
	// targets are keyed hashes of transactions, payments, features and subjects.
	targets map[lethe.Digest]bool
	// subjects have their last suppressed timestep.
	subjects map[lethe.Digest]lethe.Timestep
	redacted lethe.Redactions
}

func newHidden(store role.Store) *hidden {
	return &hidden{store: store, targets: make(map[lethe.Digest]bool), subjects: make(map[lethe.Digest]lethe.Timestep)}
}

// readers read the store, by prefix of the keys.
func (h *hidden) readers() map[string]func(key, value []byte) error {
	return map[string]func(key, value []byte) error{
		suppressedPrefix: func(key, _ []byte) error {
			h.targets[lethe.Digest(key[len(suppressedPrefix):])] = true
			return nil
		},
		subjectPrefix: func(key, value []byte) error {
			if len(value) != 8 {
				return fmt.Errorf("%w: a subject goes until a timestep of %d bytes", swapstore.ErrCorrupt, len(value))
			}
			h.subjects[lethe.Digest(key[len(subjectPrefix):])] = lethe.Timestep(binary.BigEndian.Uint64(value))
			return nil
		},
		redactedPrefix: func(key, value []byte) error {
			r := lethe.Redaction{Target: lethe.Digest(key[len(redactedPrefix):])}
			if err := json.Unmarshal(value, &r.Columns); err != nil {
				return fmt.Errorf("%w: redacted features: %w", swapstore.ErrCorrupt, err)
			}
			h.redacted.Add(r)
			return nil
		},
	}
}

// suppress stores the keyed hashes of targets, erased features and the last suppressed timesteps of subjects.
func (h *hidden) suppress(targets []lethe.Digest, features []lethe.Redaction, subjects []lethe.SubjectUntil) error {
	known := func(d lethe.Digest) bool { return h.targets[d] }
	targets = slices.DeleteFunc(slices.Clone(targets), known)
	features = slices.DeleteFunc(slices.Clone(features), func(r lethe.Redaction) bool { return h.redacted.Has(r.Target) })
	until := make(map[lethe.Digest]lethe.Timestep)
	for _, s := range subjects {
		if before, found := h.subjects[s.Target]; !found || before < s.Until {
			until[s.Target] = s.Until
		}
	}
	if len(targets)+len(features)+len(until) == 0 {
		return nil
	}
	err := h.store.Apply(func(w swapstore.Writer) error {
		for _, d := range targets {
			w.Set(suppressedKey(d), nil)
		}
		for d, t := range until {
			w.Set(subjectKey(d), untilValue(t))
		}
		for _, r := range features {
			value, err := json.Marshal(r.Columns)
			if err != nil {
				return err
			}
			w.Set(redactedKey(r.Target), value)
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("store suppressed targets: %w", err)
	}
	for _, d := range targets {
		h.targets[d] = true
	}
	maps.Copy(h.subjects, until)
	for _, r := range features {
		h.redacted.Add(r)
	}
	return nil
}

func untilValue(t lethe.Timestep) []byte { return binary.BigEndian.AppendUint64(nil, uint64(t)) }

// lift ends the suppression of a cancelled request; of some subjects only after a timestep.
func (h *hidden) lift(targets []lethe.Digest, still []lethe.SubjectUntil) error {
	err := h.store.Apply(func(w swapstore.Writer) error {
		for _, d := range targets {
			w.Delete(suppressedKey(d))
			w.Delete(subjectKey(d))
			w.Delete(redactedKey(d))
		}
		for _, s := range still {
			w.Set(subjectKey(s.Target), untilValue(s.Until))
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("take back suppressed targets: %w", err)
	}
	for _, d := range targets {
		delete(h.targets, d)
		delete(h.subjects, d)
	}
	for _, s := range still {
		h.subjects[s.Target] = s.Until
	}
	h.redacted.Drop(targets)
	return nil
}

// list returns all suppressed targets, in no particular order.
func (h *hidden) list() (targets []lethe.Digest, features []lethe.Redaction, subjects []lethe.SubjectUntil) {
	for target, until := range h.subjects {
		subjects = append(subjects, lethe.SubjectUntil{Target: target, Until: until})
	}
	return slices.Collect(maps.Keys(h.targets)), h.redacted.List(), subjects
}

// hides returns a function that reports whether a transaction is suppressed. It is valid until the next suppression.
func (h *hidden) hides(secret lethe.Secret) func(lethe.TransactionID) bool {
	if len(h.targets) == 0 {
		return func(lethe.TransactionID) bool { return false }
	}
	of := secret.Suppressor()
	return func(id lethe.TransactionID) bool { return h.targets[of.Suppression(id)] }
}

// hidesNow is hides for another goroutine. Later suppressions are not in it.
func (h *hidden) hidesNow(secret lethe.Secret) func(lethe.TransactionID) bool {
	return (&hidden{targets: maps.Clone(h.targets)}).hides(secret)
}

// redactedIn returns the transactions of a graph with erased features.
func (h *hidden) redactedIn(g *lethe.Snapshot, secret lethe.Secret) map[lethe.Pseudonym]bool {
	if !h.redacted.Any() {
		return nil
	}
	out := make(map[lethe.Pseudonym]bool)
	for _, n := range g.Nodes {
		if _, redacted := h.redacted.Of(secret, n.ID); redacted {
			out[n.Pseudonym] = true
		}
	}
	return out
}
