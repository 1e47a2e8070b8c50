package worlds

import (
	"slices"

	"lethe"
	"lethe/deletions"
	"lethe/ingest"
)

// redact adds features to the targets of a third of the requests, and of some leaves nothing
// else: all of them, or some columns, of which one may be beyond the row.
func (d *drawing) redact(targets []lethe.Target, ids []lethe.TransactionID) []lethe.Target {
	if d.redacts.IntN(3) > 0 {
		return targets
	}
	if d.redacts.IntN(2) == 0 {
		targets = nil
	}
	for more := 1 + d.redacts.IntN(2); more > 0; more-- {
		targets = append(targets, d.someFeatures(ids))
	}
	return lethe.Distinct(targets)
}

// someFeatures are features of one of some transactions.
func (d *drawing) someFeatures(ids []lethe.TransactionID) lethe.Target {
	var columns []int
	for d.redacts.IntN(3) > 0 && len(columns) < 2 {
		columns = append(columns, d.redacts.IntN(features+1))
	}
	return lethe.FeaturesOf(ids[d.redacts.IntN(len(ids))], columns...)
}

// sent are the transactions that records name, in their order.
func (d *drawing) sent() (out []lethe.TransactionID) {
	for _, e := range d.events {
		out = append(out, e.names...)
	}
	return append(out, neverSent)
}

// says reports whether a record says features of a transaction that are not 0, or may: of a
// broken one nobody can tell.
func (e event) says(target lethe.Target) bool {
	if target.Kind != lethe.FeaturesTarget || !slices.Contains(e.names, target.Transaction) {
		return false
	}
	_, changed := target.Columns.Zeroed(e.row)
	return changed || e.broken
}

// concerns reports whether a record goes with a target, or is another one once the target is
// erased, or takes the place of one that is.
func (e event) concerns(target lethe.Target) bool {
	if target.Kind != lethe.FeaturesTarget {
		return e.erases(target)
	}
	return (e.row != nil || e.broken) && slices.Contains(e.names, target.Transaction)
}

// redacted is the record with 0 for what targets are of its features. As it comes it stays if
// that changes nothing.
func (e event) redacted(targets map[lethe.TargetName]lethe.Target) event {
	for _, target := range targets {
		if !e.says(target) || e.broken {
			continue
		}
		asWritten := ingest.DefaultLimits()
		asWritten.Normalise = nil
		event, err := ingest.DecodeTransactions(ingest.Record{Key: e.record.Key, Value: e.record.Value}, asWritten)
		if err != nil {
			panic(err)
		}
		t := event.(ingest.Transaction).Transaction
		t.Features, _ = target.Columns.Zeroed(t.Features)
		if _, e.record.Value, err = ingest.EncodeTransaction(t); err != nil {
			panic(err)
		}
		e.row = t.Features
	}
	return e
}

// alikeRedacted are the keys of records that differ in nothing but features that are erased: without these the
// later one repeats the former, and is not refused as it was when it came, before anybody asked for that. The very
// same record differs, too, if it carries a held subject: it may have come before the request was to wait, and again
// since.
func (w *world) alikeRedacted() map[string]bool {
	targets, holds, keys := w.targets(), make(map[string]bool), make(map[string]bool)
	for _, e := range w.events {
		if e.operation != nil && e.operation.hold != nil {
			for _, subject := range e.operation.hold.Subjects {
				holds[subject] = true
			}
		}
	}
	values := make(map[[2]string]string) // as it came, of the first by its key and what is left of it
	for _, e := range w.events {
		if e.row == nil {
			continue
		}
		key, value := string(e.record.Key), string(e.record.Value)
		at := [2]string{key, string(e.redacted(targets).record.Value)}
		waits := at[1] != value && slices.ContainsFunc(e.subjects, func(s string) bool { return holds[s] })
		if first, known := values[at]; !known {
			values[at] = value
		} else if first != value || waits {
			keys[key] = true
		}
	}
	return keys
}

// redacts reports whether some request names features.
func (w *world) redacts() bool {
	for _, target := range w.targets() {
		if target.Kind == lethe.FeaturesTarget {
			return true
		}
	}
	return false
}

// featureOutcomes is outcomes of features: the transaction, or more features of it, may have
// been erased before, and nothing of them may be left where a later record has the key of what
// holds them, or where they came when another request had named them.
func (w *world) featureOutcomes(at int, target lethe.Target, got *state) (may []deletions.Outcome) {
	says := func(e event) bool { return e.says(target) }
	if !slices.ContainsFunc(w.events, says) {
		return append(may, deletions.OutcomeNothingHeld, deletions.OutcomeAlreadyErased)
	}
	may = append(may, deletions.OutcomeErased)
	wider, asked := false, w.tookBack(target)
	for i, e := range w.events {
		if e.request == nil {
			continue
		}
		for _, named := range e.request.Targets {
			asked = asked || i < at && named.Name() == target.Name()
			for _, other := range w.with(named) {
				covers := other.Kind == lethe.FeaturesTarget && other.Columns.Cover(target.Columns)
				if (i != at || other.Name() != target.Name()) && other.Transaction == target.Transaction {
					wider = wider || covers || other.Kind == lethe.TransactionTarget
				}
			}
		}
	}
	if wider || w.isOperated() { // what a backup held may be erased by a request of lethe's own
		may = append(may, deletions.OutcomeAlreadyErased)
	}
	others := w.targets()
	delete(others, target.Name())
	held := slices.ContainsFunc(w.events[:at], func(e event) bool {
		alone := !slices.ContainsFunc(w.events, func(other event) bool {
			return other.request == nil && string(other.record.Key) == string(e.record.Key) &&
				string(other.record.Value) != string(e.record.Value)
		})
		return says(e) && alone && !e.erased(others) && string(e.redacted(others).record.Value) == string(e.record.Value)
	})
	if asked || !held || !got.knowing[w.events[at].request.RequestID] {
		may = append(may, deletions.OutcomeNothingHeld)
	}
	return may
}
