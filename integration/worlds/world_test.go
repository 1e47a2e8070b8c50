package worlds

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"lethe"
	"lethe/ingest"
	"lethe/ingest/bus"
	"lethe/partition/onehop"
	"lethe/snapshot"
)

// world is what is sent, in this sequence, and what happens meanwhile.
type world struct {
	events []event
	last   lethe.Timestep
	// crashes are how one process after the other ends before its time.
	crashes []crash
	// patience is how many turns the roles get while a search runs beside them.
	patience int
	// window is how long requests wait for others to be carried out together.
	window time.Duration
	// oneHop is what rows are joined with.
	oneHop onehop.Mode
	// independent says that shards follow from ids alone, so that nothing is given where
	// slices are compared.
	independent bool
	// components are those of the ensemble, none for a network per shard.
	components []string
	// config says when timesteps end, and what becomes of late records.
	config snapshot.Config
	// trainers is how many processes train together, 0 for one that shares with nobody.
	trainers int
	// builders and scorers are how many processes build graphs and score, of which one leads; 0
	// for one that shares with nobody.
	builders, scorers int
	// newcomers are the roles of which the last process begins later than the others.
	newcomers map[string]bool
	// late records come behind the end of their timestep.
	late bool
	// spelt has the ids that their producer spells otherwise than lethe, by what lethe calls them.
	spelt map[lethe.TransactionID]lethe.TransactionID
	// kept are transactions that a hold keeps though they carry a subject that was erased.
	kept []lethe.TransactionID
	// loose says that what is refused as late depends on when timesteps were closed,
	// and so on the targets: there is no world to compare with, but what was taken must
	// be trained on and predicted from as ever.
	loose bool
}

// String lists what is sent, and how many turns the roles get after it.
func (w world) String() string {
	var out strings.Builder
	fmt.Fprintf(&out, "killed: %+v, searches take %d turns, requests wait %v, rows %d, "+
		"independent %v, components %q\n%+v\n",
		w.crashes, w.patience, w.window, w.oneHop, w.independent, w.components, w.config)
	fmt.Fprintf(&out, "%d train, %d build graphs, %d score, newcomers %v\n", max(1, w.trainers), max(1, w.builders),
		max(1, w.scorers), w.newcomers)
	for _, e := range w.events {
		if e.operation != nil {
			fmt.Fprintf(&out, "%s\n", e.operation)
			continue
		}
		if e.request != nil {
			fmt.Fprintf(&out, "%d: %s at scope %s: %v\n", e.polls, e.request.RequestID, e.request.Scope, e.request.Targets)
			continue
		}
		fmt.Fprintf(&out, "%d: %s %q %s", e.polls, e.topic, e.record.Key, e.record.Value)
		if e.opens {
			out.WriteString(" in an open transaction")
		}
		out.WriteString("\n")
	}
	return out.String()
}

// event is a record, or a request for erasure.
type event struct {
	topic  bus.Topic
	record ingest.Outgoing
	// names are the transactions that the record names anywhere, in any spelling.
	names []lethe.TransactionID
	// pays says that the record is the payment from the first of names to the second.
	pays bool
	// subjects are those that the record carries, at its timestep.
	subjects []string
	at       lethe.Timestep
	// moved is the timestep of a transaction's record that is not the one of its id, else 0.
	moved lethe.Timestep
	// again says that it comes once more in the end, when its subject is erased.
	again bool
	// row are the features that it holds, or nil.
	row []float32
	// broken says that it is a transaction's record that cannot be decoded.
	broken  bool
	request *lethe.ErasureRequest
	// opens says that it is written in a transaction that is open until an operation ends it.
	opens bool
	// behind is a request that must be suppressing its targets by then, or this is not sent.
	behind string
	// operation is what an operator does, or nil; then nothing is sent by itself.
	operation *operation
	// polls is how many turns the roles get before the next event.
	polls int
}

// targets are those that some request names.
func (w *world) targets() map[lethe.TargetName]lethe.Target {
	out := make(map[lethe.TargetName]lethe.Target)
	for _, e := range w.events {
		if e.request == nil {
			continue
		}
		for _, target := range e.request.Targets {
			for _, with := range w.with(target) {
				out[with.Name()] = with
			}
		}
	}
	return out
}

// with are a target and what goes with it: with a subject the transactions and payments that
// carry it.
func (w *world) with(target lethe.Target) []lethe.Target {
	out := []lethe.Target{target}
	if target.Kind != lethe.SubjectTarget {
		return out
	}
	for _, e := range w.events {
		switch {
		case !e.carries(target):
		case e.pays:
			out = append(out, lethe.PaymentBetween(e.names[0], e.names[1]))
		case !slices.Contains(w.kept, e.names[0]):
			out = append(out, lethe.Transactions(e.names[0])...)
		}
	}
	return out
}

// carries reports whether a record carries a subject that goes.
func (e event) carries(target lethe.Target) bool {
	return slices.Contains(e.subjects, target.Subject) && (target.Until == lethe.NoTimestep || e.at <= target.Until)
}

// erases reports whether a record goes with a target.
func (e event) erases(target lethe.Target) bool {
	if target.Kind == lethe.PaymentTarget {
		return e.pays && e.names[0] == target.Payment.Source && e.names[1] == target.Payment.Target
	}
	if target.Kind == lethe.SubjectTarget {
		return e.carries(target)
	}
	if target.Kind == lethe.FeaturesTarget {
		return e.broken && e.says(target)
	}
	return slices.Contains(e.names, target.Transaction)
}

// erased reports whether a record goes with one of the targets.
func (e event) erased(targets map[lethe.TargetName]lethe.Target) bool {
	for _, target := range targets {
		if e.erases(target) {
			return true
		}
	}
	return false
}

// requestIDs are those of the requests, ascending.
func (w *world) requestIDs() (out []string) {
	for _, e := range w.events {
		if e.request != nil {
			out = append(out, e.request.RequestID)
		}
	}
	slices.Sort(out)
	return out
}

// prefixOf is what ids of a timestep begin with. JSON may spell both signs, and that
// beyond the first plane as two.
func prefixOf(at lethe.Timestep) string { return fmt.Sprintf("é😀/%d-", at) }

// keepsStubs reports whether some request at scope shard names a transaction of the
// timestep that none at scope partition names.
func (w *world) keepsStubs(at lethe.Timestep) bool {
	return w.namesAlone(at, lethe.ScopeShard, lethe.TransactionTarget)
}

// dealtAfresh reports whether every target of the timestep that a request names is
// named by one at scope partition: then nobody's shard was told by a target.
func (w *world) dealtAfresh(at lethe.Timestep) bool {
	kinds := []lethe.TargetKind{lethe.TransactionTarget, lethe.PaymentTarget}
	return !w.namesAlone(at, lethe.ScopeShard, kinds...) && !w.namesAlone(at, lethe.ScopeStubs, kinds...)
}

// namesAlone reports whether some request at a scope names a target of the timestep, of some
// kinds, that none at scope partition names, be that earlier or later. At scope shard payments
// leave no stubs: the slices of both their ends are replaced.
func (w *world) namesAlone(at lethe.Timestep, scope lethe.Scope, kinds ...lethe.TargetKind) bool {
	named := make(map[lethe.Scope]map[lethe.TargetName]lethe.Target)
	for _, e := range w.events {
		if e.request == nil {
			continue
		}
		if named[e.request.Scope] == nil {
			named[e.request.Scope] = make(map[lethe.TargetName]lethe.Target)
		}
		for _, target := range e.request.Targets {
			for _, with := range w.with(target) {
				named[e.request.Scope][with.Name()] = with
			}
		}
	}
	for name, target := range named[scope] {
		_, afresh := named[lethe.ScopePartition][name]
		if w.isOf(target, at) && slices.Contains(kinds, target.Kind) && !afresh {
			return true
		}
	}
	return false
}

// isOf reports whether a target is of a timestep, as far as its ids tell, or may be there because a
// record of it says so.
func (w *world) isOf(target lethe.Target, at lethe.Timestep) bool {
	if slices.ContainsFunc(w.events, func(e event) bool {
		return e.moved == at && e.names[0] == target.Transaction
	}) {
		return true
	}
	return slices.ContainsFunc(
		[]lethe.TransactionID{target.Transaction, target.Payment.Source, target.Payment.Target},
		func(id lethe.TransactionID) bool { return strings.HasPrefix(string(id), prefixOf(at)) })
}

// without is the world as if the targets had never been: no request, no record that names
// one, and 0 for features that are.
func (w *world) without(targets map[lethe.TargetName]lethe.Target) world {
	out := world{
		last: w.last, oneHop: w.oneHop, independent: w.independent,
		components: w.components, config: w.config, late: w.late, loose: w.loose,
	}
	for _, e := range w.events {
		if e.request == nil && e.operation == nil && !e.erased(targets) {
			e.opens = false
			out.events = append(out.events, e.redacted(targets))
		}
	}
	return out
}

// lastTimestep is one timestep more, after everything has come to rest: what is
// predicted for it must not depend on the targets.
func (w *world) lastTimestep() []event {
	at := w.last + 1
	end := world{}
	for i := range 4 {
		tx := lethe.Transaction{
			ID: lethe.TransactionID(fmt.Sprintf("end-%d", i)), Timestep: at, Features: []float32{float32(i), -1, .5},
		}
		key, value, err := ingest.EncodeTransaction(tx)
		if err != nil {
			panic(err)
		}
		end.events = append(end.events, event{topic: bus.Transactions, record: ingest.Outgoing{Key: key, Value: value}})
	}
	for p := range 2 {
		key, value := ingest.EncodeClose(at, p)
		end.control(bus.Transactions, p, key, value)
	}
	return end.events
}
