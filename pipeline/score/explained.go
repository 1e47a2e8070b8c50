package score

import (
	"cmp"
	"fmt"
	"slices"

	"lethe"
	"lethe/canonical"
	"lethe/internal/swapstore"
	"lethe/internal/timestepkey"
)

// explained are the alerts of a timestep with published reasons, and those without.
type explained struct {
	alerts []alert // ascending
	// again means that some must be made again because of an erasure.
	again bool
	// changed means that they differ from the stored ones.
	changed bool
}

// alert is a transaction with reasons.
type alert struct {
	node lethe.Pseudonym
	owed bool
	// around are the other ends of its payments, ascending; its reasons may name them.
	around []lethe.Pseudonym
}

const (
	explainedMagic   = "LGRS"
	explainedVersion = 1
)

// readExplained reads the alerts of a timestep.
func readExplained(store swapstore.Reader, t lethe.Timestep) (e explained, err error) {
	value, found, err := store.Get(timestepkey.New(explainedPrefix, t))
	if err != nil || !found {
		return e, err
	}
	return decodeExplained(value)
}

func decodeExplained(value []byte) (e explained, err error) {
	r, err := canonical.NewReader(value, explainedMagic, explainedVersion)
	if err != nil {
		return e, fmt.Errorf("explained alerts: %w", err)
	}
	const each = len(lethe.Pseudonym{})
	e.alerts = make([]alert, r.Count(each+5))
	for i := range e.alerts {
		a := &e.alerts[i]
		r.Bytes(a.node[:])
		a.owed = r.Flag()
		a.around = make([]lethe.Pseudonym, r.Count(each))
		for k := range a.around {
			r.Bytes(a.around[k][:])
		}
	}
	if err := r.Close(); err != nil {
		return e, fmt.Errorf("explained alerts: %w", err)
	}
	return e, nil
}

func (e explained) encode() []byte {
	w := canonical.NewWriter(explainedMagic, explainedVersion)
	w.Count(len(e.alerts))
	for _, a := range e.alerts {
		w.Bytes(a.node[:])
		w.Flag(a.owed)
		w.Count(len(a.around))
		for _, p := range a.around {
			w.Bytes(p[:])
		}
	}
	return w.Seal()
}

// write stores changed alerts, also an empty list: a file is deleted after all other changes, and a crash before that
// would leave a file with pseudonyms of erased transactions for ever.
func (e explained) write(w swapstore.Writer, t lethe.Timestep) {
	if e.changed {
		w.Set(timestepkey.New(explainedPrefix, t), e.encode())
	}
}

// likely is a transaction with its predicted probability.
type likely struct {
	node        lethe.Pseudonym
	probability float64
}

// mostAlerts bounds the alerts of a timestep that get reasons: more would not be read, and a wrong threshold must not
// stop scoring.
const mostAlerts = 100

// with adds the most probable alerts. Of equal ones the first is preferred.
func (e explained) with(alerts []likely) explained {
	slices.SortStableFunc(alerts, func(a, b likely) int { return cmp.Compare(b.probability, a.probability) })
	for _, a := range alerts[:min(len(alerts), max(0, mostAlerts-len(e.alerts)))] {
		e.alerts = append(e.alerts, alert{node: a.node, owed: true})
	}
	e.sort()
	e.changed = true
	return e
}

func (e explained) sort() {
	slices.SortFunc(e.alerts, func(a, b alert) int { return a.node.Compare(b.node) })
}

// next returns the rows of the alerts whose reasons are made next, and the other alerts. Neither has deleted or
// suppressed transactions: the erasure withdraws their reasons.
func (e explained) next(s *lethe.Snapshot, hides func(lethe.TransactionID) bool) (rows []int, others explained) {
	others.changed = true
	for _, a := range e.alerts {
		at, found := s.Find(a.node)
		switch {
		case !found || hides(s.Nodes[at].ID):
		case a.owed && len(rows) < explainTogether:
			rows = append(rows, at)
		default:
			others.alerts = append(others.alerts, a)
		}
	}
	return rows, others
}

// within returns the alerts that a graph still has. Those that lost a payment are explained again: published reasons
// may name the other end.
func (e explained) within(s *lethe.Snapshot) explained {
	paid := neighboursOf(s, e.alerts)
	var out explained
	for _, a := range e.alerts {
		_, found := s.Find(a.node)
		switch {
		case !found:
			out.changed = true
			continue
		case slices.ContainsFunc(a.around, func(p lethe.Pseudonym) bool { return !paid[a.node][p] }):
			a.owed, a.around = true, nil
			out.again, out.changed = true, true
		}
		out.alerts = append(out.alerts, a)
	}
	return out
}

// neighboursOf returns the other ends of the payments of some alerts.
func neighboursOf(s *lethe.Snapshot, alerts []alert) map[lethe.Pseudonym]map[lethe.Pseudonym]bool {
	out := make(map[lethe.Pseudonym]map[lethe.Pseudonym]bool)
	for _, a := range alerts {
		out[a.node] = make(map[lethe.Pseudonym]bool)
	}
	if len(out) == 0 {
		return out
	}
	for _, p := range s.Payments {
		pair := s.Pair(p)
		if around := out[pair.Source]; around != nil {
			around[pair.Target] = true
		}
		if around := out[pair.Target]; around != nil {
			around[pair.Source] = true
		}
	}
	return out
}

// owed is the number of alerts without reasons.
func (e explained) owed() (n int) {
	for _, a := range e.alerts {
		if a.owed {
			n++
		}
	}
	return n
}
