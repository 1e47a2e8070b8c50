package score

import (
	"encoding/json"
	"fmt"
	"slices"

	"lethe"
	"lethe/internal/swapstore"
)

// redact stores which features are erased.
func redact(s *state, list []lethe.Redaction) error {
	if !slices.ContainsFunc(list, func(r lethe.Redaction) bool { return !s.redacted.Has(r.Target) }) {
		return nil
	}
	err := s.store.Apply(func(w swapstore.Writer) error {
		for _, r := range list {
			value, err := json.Marshal(r.Columns)
			if err != nil {
				return err
			}
			w.Set(redactedKey(r.Target), value)
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("note redacted features: %w", err)
	}
	for _, r := range list {
		s.redacted.Add(r)
	}
	return nil
}

// readRedacted reads erased features.
func readRedacted(s *state, key, value []byte) error {
	r := lethe.Redaction{Target: lethe.Digest(key[len(redactedPrefix):])}
	if err := json.Unmarshal(value, &r.Columns); err != nil {
		return fmt.Errorf("%w: redacted features: %w", swapstore.ErrCorrupt, err)
	}
	s.redacted.Add(r)
	return nil
}

// redactedIn returns the transactions of a graph with erased features.
func redactedIn(s *state, g *lethe.Snapshot, secret lethe.Secret) map[lethe.Pseudonym]bool {
	if !s.redacted.Any() {
		return nil
	}
	out := make(map[lethe.Pseudonym]bool)
	for _, n := range g.Nodes {
		if _, redacted := s.redacted.Of(secret, n.ID); redacted {
			out[n.Pseudonym] = true
		}
	}
	return out
}

// explainedAnew returns the alerts of a timestep after a change of its graph.
func explainedAnew(s *state, g *lethe.Snapshot, secret lethe.Secret) (explained, error) {
	reasons, err := readExplained(s.store, g.Timestep)
	if err != nil {
		return reasons, err
	}
	return reasons.within(g).redacted(g, redactedIn(s, g, secret)), nil
}

// redacted marks alerts whose reasons depend on erased features, of their own transaction or of a neighbour, to be
// explained again.
func (e explained) redacted(s *lethe.Snapshot, features map[lethe.Pseudonym]bool) explained {
	if len(features) == 0 {
		return e
	}
	paid := neighboursOf(s, e.alerts)
	for i := range e.alerts {
		a := &e.alerts[i]
		concerned := features[a.node]
		for p := range paid[a.node] {
			concerned = concerned || features[p]
		}
		if concerned && !a.owed {
			a.owed, a.around = true, nil
			e.again, e.changed = true, true
		}
	}
	return e
}
