package worlds

import (
	"crypto/ed25519"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"lethe"
	"lethe/deletions"
	"lethe/deletions/receipt"
	"lethe/deletions/translog"
)

var signingKey = ed25519.NewKeyFromSeed(make([]byte, ed25519.SeedSize))

// readReceipts reads a folder of receipts and checks their signatures.
func readReceipts(folder string) (map[string]receipt.Receipt, error) {
	files, err := os.ReadDir(folder)
	if err != nil {
		return nil, err
	}
	out := make(map[string]receipt.Receipt)
	for _, file := range files {
		name, isReceipt := strings.CutSuffix(file.Name(), ".json")
		if !isReceipt {
			continue
		}
		data, err := os.ReadFile(filepath.Join(folder, file.Name()))
		if err != nil {
			return nil, err
		}
		if err := checkProof(data); err != nil {
			return nil, fmt.Errorf("receipt %s: %w", file.Name(), err)
		}
		r, v, err := receipt.Verify(data, receipt.Pinned(signingKey.Public().(ed25519.PublicKey)))
		if err != nil || !v.Valid {
			return nil, fmt.Errorf("receipt %s: %v %w", file.Name(), v.Problems, err)
		}
		out[name] = r
	}
	return out, nil
}

// checkProof checks the proof in a receipt that it is in the transparency log.
func checkProof(signed []byte) error {
	document, err := receipt.Decode(signed)
	if err != nil {
		return err
	}
	payload, err := receipt.Payload(signed)
	if err != nil {
		return err
	}
	proof, err := translog.ParseProof(document.Log)
	if err != nil {
		return err
	}
	_, err = proof.CheckReceipt(payload, "", signingKey.Public().(ed25519.PublicKey))
	return err
}

// receipts checks that every request has a receipt, that it has an outcome for each of
// its targets that can be, and that nothing remains but what is kept on purpose.
func (c *comparison) receipts(w world, got *state) {
	own := func(id string) bool { return isAgain(id) || got.states[id] == deletions.Rejected }
	c.equal("receipts", slices.DeleteFunc(slices.Sorted(maps.Keys(got.receipts)), own),
		slices.DeleteFunc(w.requestIDs(), own))
	for at, e := range w.events {
		if e.request == nil || got.states[e.request.RequestID] == deletions.Rejected {
			continue
		}
		r := got.receipts[e.request.RequestID]
		c.equal("request of receipt", r.RequestID, e.request.RequestID)
		c.equal("scope of "+r.RequestID, r.Scope, e.request.Scope)
		c.equal("outcomes of "+r.RequestID, len(r.Outcomes), len(e.request.Targets))
		if len(r.Searched) > 0 {
			c.searched(r, ofTrain, crewOf(w.trainers).names(), got)
			c.searched(r, ofScore, or(groupOf(ofScore, w.scorers).names(), "1"), got)
			c.searched(r, ofGraphs, or(groupOf(ofGraphs, w.builders).names(), "1"), got)
		}
		for i, target := range e.request.Targets {
			if i >= len(r.Outcomes) {
				break
			}
			what := fmt.Sprintf("outcome of target %d of %s", i, r.RequestID)
			c.equal(what+": target", r.Outcomes[i].Target, secret.Suppressed(target))
			kind := target.Kind
			if kind == lethe.TransactionTarget {
				kind = ""
			}
			c.equal(what+": kind", r.Outcomes[i].Kind, kind)
			c.equal(what+": columns", r.Outcomes[i].Columns.String(), target.Columns.String())
			if target.Kind == lethe.SubjectTarget {
				continue // other requests may have erased what carries it
			}
			if may := w.outcomes(at, target, got); !slices.Contains(may, r.Outcomes[i].Outcome) {
				*c = append(*c, fmt.Sprintf("%s: %s, want one of %s", what, r.Outcomes[i].Outcome, may))
			}
		}
		for _, row := range r.Artefacts {
			what := fmt.Sprintf("%s: remaining %s in %s", r.RequestID, row.Artefact, row.Location)
			if row.Artefact == receipt.Stubs && r.Scope == lethe.ScopeShard && row.Remaining <= row.Found {
				// Those of slices that were replaced since are gone.
				continue
			}
			c.equal(what, row.Remaining, keptOf(r, row))
		}
	}
}

// searchedOf are the instances of a role whose folders were searched, ascending.
func searchedOf(r receipt.Receipt, role string) (instances []string) {
	for _, p := range r.Searched {
		if p.Place == role {
			instances = append(instances, p.Instance)
		}
	}
	slices.Sort(instances)
	return instances
}

// outcomes are those that a target of the request at a position may have: another
// request may have erased it, and records that come after the request may be read before
// it, and the other way round.
func (w *world) outcomes(at int, target lethe.Target, got *state) (may []deletions.Outcome) {
	if target.Kind == lethe.FeaturesTarget {
		return w.featureOutcomes(at, target, got)
	}
	if !slices.ContainsFunc(w.events, func(e event) bool { return e.erases(target) }) {
		return []deletions.Outcome{deletions.OutcomeNothingHeld}
	}
	may = append(may, deletions.OutcomeErased)
	asked := w.tookBack(target)
	if w.isOperated() {
		// What a backup held may be erased by a request of lethe's own.
		may = append(may, deletions.OutcomeAlreadyErased)
	}
	for i, e := range w.events {
		if e.request == nil || i == at {
			continue
		}
		for k, other := range e.request.Targets {
			if other.Kind == lethe.SubjectTarget && slices.ContainsFunc(w.with(other),
				func(with lethe.Target) bool { return with.Name() == target.Name() }) {
				// What carried a subject is that request's, whichever was first.
				asked, may = true, append(may, deletions.OutcomeAlreadyErased)
				continue
			}
			if other.Name() != target.Name() {
				continue
			}
			asked = asked || i < at
			if r := got.receipts[e.request.RequestID]; k < len(r.Outcomes) && r.Outcomes[k].Outcome == deletions.OutcomeErased {
				may = append(may, deletions.OutcomeAlreadyErased)
			}
		}
	}
	if asked || !got.knowing[w.events[at].request.RequestID] || !w.holds(at, target) {
		may = append(may, deletions.OutcomeNothingHeld)
	}
	return may
}

// holds reports whether some record up to a position goes with a target and with no other:
// one that goes with another may be dropped on its account.
func (w *world) holds(at int, target lethe.Target) bool {
	others := w.targets()
	delete(others, target.Name())
	return slices.ContainsFunc(w.events[:at], func(e event) bool { return e.erases(target) && !e.erased(others) })
}

// keptOf is what a row of a receipt keeps on purpose: keyed hashes of the targets, the
// entry in the ledger and, at scope shard, the stubs that other shards have.
func keptOf(r receipt.Receipt, row receipt.ArtefactRow) int64 {
	switch {
	case row.Artefact == receipt.SuppressionEntries:
		return int64(len(r.Targets))
	case row.Artefact == receipt.LedgerEntries:
		return 1
	case row.Artefact == receipt.Stubs && r.Scope == lethe.ScopeShard:
		return row.Found
	case row.Artefact == receipt.KafkaTopics && row.Action == receipt.KeptDeclared && len(r.HeldRequests) > 0:
		return row.Found
	default:
		return 0
	}
}

// or is a list, or another one where that is empty.
func or(list []string, otherwise ...string) []string {
	if len(list) == 0 {
		return otherwise
	}
	return list
}
