package score

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"lethe"
	"lethe/canonical"
	"lethe/internal/swapstore"
	"lethe/internal/timestepkey"
	"lethe/pipeline/score/published"
)

// explained are the alerts of a timestep with published reasons, and those without.
type explained struct {
	alerts []alert // ascending
	// again means that some must be made again because of an erasure.
	again bool
	// changed means that they differ from the stored ones.
	changed bool
	// unread means that the timestep was passed over: other alerts may have reasons on reasons.v1.
	unread bool
}

// alert is a transaction with reasons.
type alert struct {
	node lethe.Pseudonym
	owed bool
	// around are the other ends of its payments, one for each, ascending; its reasons may name them.
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
	if r.Left() > 0 {
		if e.unread = r.Flag(); r.Err() == nil && !e.unread {
			return e, fmt.Errorf("explained alerts: %w: a flag that is not written", canonical.ErrCorrupt)
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
	if e.unread {
		w.Flag(true)
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

// unreadAlerts are those of a timestep that was passed over.
func unreadAlerts() explained { return explained{unread: true, changed: true} }

// mostAlerts bounds the alerts of a timestep that get reasons: more would not be read, and a wrong threshold must not
// stop scoring.
const mostAlerts = 100

// with adds the most probable alerts. Of equal ones the first is preferred.
func (e explained) with(alerts []published.Score) explained {
	slices.SortStableFunc(alerts, func(a, b published.Score) int { return cmp.Compare(b.Probability, a.Probability) })
	for _, a := range alerts[:min(len(alerts), max(0, mostAlerts-len(e.alerts)))] {
		e.alerts = append(e.alerts, alert{node: a.Node, owed: true})
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
	others.changed, others.unread = true, e.unread
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
// may name the other end. So are all of a timestep that was passed over, because what they lost is unknown.
func (e explained) within(s *lethe.Snapshot) explained {
	paid := neighboursOf(s, e.alerts)
	out := explained{again: e.unread, unread: e.unread}
	for _, a := range e.alerts {
		_, found := s.Find(a.node)
		switch {
		case !found:
			out.changed = true
			continue
		case a.lost(paid[a.node]):
			a.owed, a.around = true, nil
			out.again, out.changed = true, true
		}
		out.alerts = append(out.alerts, a)
	}
	return out
}

// lost reports whether an alert has fewer payments with one of its other ends than before. now counts the present ones.
func (a alert) lost(now map[lethe.Pseudonym]int) bool {
	left := maps.Clone(now)
	for _, end := range a.around {
		if left[end]--; left[end] < 0 {
			return true
		}
	}
	return false
}

// surround sets the other ends of the payments of some alerts, an end twice if it is paid and pays.
func surround(s *lethe.Snapshot, alerts []alert) {
	paid := neighboursOf(s, alerts)
	for i := range alerts {
		alerts[i].around = nil
		for _, end := range slices.SortedFunc(maps.Keys(paid[alerts[i].node]), lethe.Pseudonym.Compare) {
			alerts[i].around = append(alerts[i].around, slices.Repeat([]lethe.Pseudonym{end}, paid[alerts[i].node][end])...)
		}
	}
}

// neighboursOf counts the payments of some alerts, by their other ends.
func neighboursOf(s *lethe.Snapshot, alerts []alert) map[lethe.Pseudonym]map[lethe.Pseudonym]int {
	out := make(map[lethe.Pseudonym]map[lethe.Pseudonym]int)
	for _, a := range alerts {
		out[a.node] = make(map[lethe.Pseudonym]int)
	}
	if len(out) == 0 {
		return out
	}
	for _, p := range s.Payments {
		pair := s.Pair(p)
		if around := out[pair.Source]; around != nil {
			around[pair.Target]++
		}
		if around := out[pair.Target]; around != nil {
			around[pair.Source]++
		}
	}
	return out
}

// kind returns which reasons are owed, given those of before. A process that was killed while it stored these may have
// stored the alerts only.
func (e explained) kind(before owed) owed {
	if e.again || before == owesNothing && e.owed() > 0 {
		return owesAgain
	}
	return before
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

// explainedAnew returns the alerts of a timestep after a change of its graph.
func explainedAnew(s *state, g *lethe.Snapshot, secret lethe.Secret) (explained, error) {
	reasons, err := readExplained(s.store, g.Timestep)
	if err != nil {
		return reasons, err
	}
	return reasons.within(g).redacted(g, s.hidden.redactedIn(g, secret)), nil
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
