package window

import (
	"encoding/binary"
	"slices"
	"time"

	"lethe"
)

// Bounds limit a window.
type Bounds struct {
	// Places bounds the transactions and ends of payments. Further ones are rejected.
	Places int
	// First is the first timestep of the stream.
	First lethe.Timestep
	// Jump is the maximum distance of a timestep from the newest closed one. Later ones would never be removed.
	Jump int
}

// Window holds the transactions and payments of open timesteps. One goroutine uses it at a time.
type Window struct {
	secret lethe.Secret
	// names, transactions and payments compute keyed hashes.
	names        lethe.Pseudonymizer
	transactions lethe.Suppressor
	payments     lethe.PaymentSuppressor
	bounds       Bounds
	// width is the number of features of a transaction, or 0 while unknown.
	width int
	// closed is the newest timestep that is closed, or the one before the first.
	closed lethe.Timestep
	// past are the first 8 bytes of the pseudonyms of transactions of closed timesteps. Another transaction has the same
	// ones with a probability of one in 2^64, and would be rejected.
	past       map[uint64]struct{}
	suppressed lethe.Suppressions
	redacted   lethe.Redactions
	steps      map[lethe.Timestep]map[lethe.Pseudonym]*place
	// timestepOf is the timestep of every arrived transaction: an id has one.
	timestepOf map[lethe.Pseudonym]lethe.Timestep
	count      int
	// arrived and again are the queues for the first score and for rescoring.
	arrived, again []*place
}

// New returns an empty window.
func New(secret lethe.Secret, bounds Bounds) *Window {
	return &Window{
		secret: secret, bounds: bounds, closed: bounds.First - 1,
		names: secret.Pseudonymizer(), transactions: secret.Suppressor(), payments: secret.PaymentSuppressor(),
		steps: make(map[lethe.Timestep]map[lethe.Pseudonym]*place), timestepOf: make(map[lethe.Pseudonym]lethe.Timestep),
		past: make(map[uint64]struct{}),
	}
}

// Len returns the number of transactions and ends of payments.
func (w *Window) Len() int { return w.count }

// SetWidth sets the number of features of a transaction. Others are removed and rejected from then on: no graph will
// have them.
func (w *Window) SetWidth(features int) {
	if features == w.width {
		return
	}
	w.width = features
	for _, step := range w.steps {
		for _, p := range step {
			if p.here() && len(p.features) != features {
				w.forget(p)
			}
		}
	}
	w.sweep()
}

// Transaction adds or replaces a transaction. written is the time of its record, or zero if its delay is not measured.
// The window retains the features. It rejects a transaction whose timestep is closed or too far ahead, which is
// suppressed, has another width, or whose id is known in another timestep, and all if it is full.
func (w *Window) Transaction(t lethe.Transaction, written time.Time) {
	if w.width != 0 && len(t.Features) != w.width {
		return
	}
	p := w.place(t.Timestep, t.ID)
	if p == nil {
		return
	}
	if timestepOf, known := w.timestepOf[p.pseudonym]; known && timestepOf != t.Timestep {
		return
	}
	subjects := w.hashesOf(t.Subjects)
	if w.suppressed.Take(t.Timestep, subjects) {
		if !p.here() && len(p.payers)+len(p.payees) == 0 {
			w.forget(p)
			w.sweep()
		}
		return
	}
	for _, subject := range subjects {
		if !slices.Contains(p.subjects, subject) {
			p.subjects = append(p.subjects, subject)
		}
	}
	w.timestepOf[p.pseudonym] = t.Timestep
	if columns, redacted := w.redacted.Of(w.secret, t.ID); redacted {
		t.Features, _ = columns.Zeroed(t.Features)
	}
	p.id, p.features = t.ID, t.Features
	w.wait(p, written)
	p.neighbours(func(other *place) { w.wait(other, written) })
}

// Payment adds a payment, with written as for Transaction. It is rejected if its timestep is closed or too far ahead,
// it or an end of it is suppressed, an end is of a closed timestep, or the window is full.
func (w *Window) Payment(t lethe.Payment, written time.Time, subjects ...string) {
	source, target := w.place(t.Timestep, t.Source), w.place(t.Timestep, t.Target)
	if source == nil || target == nil || source == target || source.payees[target] != nil {
		return
	}
	hashes := append([]lethe.Digest{w.payments.Suppression(t.Source, t.Target)}, w.hashesOf(subjects)...)
	if w.suppressed.Has(hashes[0]) || w.suppressed.Take(t.Timestep, hashes[1:]) {
		return
	}
	source.payees[target], target.payers[source] = hashes, hashes
	if source.here() && target.here() {
		w.wait(source, written)
		w.wait(target, written)
	}
}

// Close removes a timestep and all before it, and rejects them from then on, and also the transactions of its graph in
// any other timestep. It returns, ascending, the arrived transactions that the graph lacks.
func (w *Window) Close(t lethe.Timestep, graph []lethe.Pseudonym) (refused []lethe.TransactionID) {
	w.closed = max(w.closed, t)
	for _, pseudonym := range graph {
		w.past[beginningOf(pseudonym)] = struct{}{}
	}
	for at, step := range w.steps {
		for _, p := range step {
			_, past := w.past[beginningOf(p.pseudonym)]
			switch {
			case at > t && past:
				w.forget(p)
			case at <= t:
				if p.here() && !past {
					refused = append(refused, p.id)
				}
				p.gone = true
				w.dropID(p)
			}
		}
		if at <= t {
			w.count -= len(step)
			delete(w.steps, at)
		}
	}
	w.sweep()
	slices.Sort(refused)
	return refused
}

func beginningOf(p lethe.Pseudonym) uint64 { return binary.BigEndian.Uint64(p[:]) }

// Suppress removes the transactions and payments with these keyed hashes, and those that carry subjects up to their
// timesteps, and rejects them from then on. Transactions that lose a neighbour are queued for a new score.
func (w *Window) Suppress(hashes []lethe.Digest, subjects ...lethe.SubjectUntil) {
	w.suppressed.Add(hashes, subjects...)
	for _, step := range w.steps {
		for _, p := range step {
			if w.suppressed.Has(p.suppression) || w.suppressed.Take(p.at, p.subjects) {
				w.forget(p)
				continue
			}
			for payee, payment := range p.payees {
				if w.suppressed.Has(payment[0]) || w.suppressed.Take(p.at, payment[1:]) {
					w.forgetPayment(p, payee)
				}
			}
		}
	}
	w.sweep()
}

// Lift accepts these transactions again, and those of the subjects after a timestep.
func (w *Window) Lift(hashes []lethe.Digest, still ...lethe.SubjectUntil) {
	w.suppressed.Lift(hashes, still...)
	w.redacted.Drop(hashes)
}

// place returns the place of a transaction, or nil if it is rejected.
func (w *Window) place(t lethe.Timestep, id lethe.TransactionID) *place {
	if t <= w.closed || t-w.closed > lethe.Timestep(w.bounds.Jump) {
		return nil
	}
	pseudonym := w.names.Pseudonym(id)
	if _, past := w.past[beginningOf(pseudonym)]; past {
		return nil
	}
	if p := w.steps[t][pseudonym]; p != nil {
		return p
	}
	p := &place{
		at: t, pseudonym: pseudonym, suppression: w.transactions.Suppression(id),
		payers: make(map[*place][]lethe.Digest), payees: make(map[*place][]lethe.Digest),
	}
	if w.suppressed.Has(p.suppression) || w.count == w.bounds.Places {
		return nil
	}
	if w.steps[t] == nil {
		w.steps[t] = make(map[lethe.Pseudonym]*place)
	}
	w.steps[t][pseudonym] = p
	w.count++
	return p
}

// wait queues a transaction, unless it is queued, with the time of the record that caused it.
func (w *Window) wait(p *place, written time.Time) {
	switch {
	case p.waits:
		return
	case p.scored:
		w.again = append(w.again, p)
	default:
		w.arrived = append(w.arrived, p)
	}
	p.waits, p.since = true, written
}

// forget removes a transaction. Its neighbours are rescored without it, which no record has caused.
func (w *Window) forget(p *place) {
	p.neighbours(func(other *place) { w.wait(other, time.Time{}) })
	p.leave()
	w.dropID(p)
	delete(w.steps[p.at], p.pseudonym)
	w.count--
}

// hashesOf returns the keyed hashes of subjects.
func (w *Window) hashesOf(subjects []string) (out []lethe.Digest) {
	for _, subject := range subjects {
		out = append(out, w.secret.SuppressedSubject(subject))
	}
	return out
}

// forgetPayment removes a payment. Its ends are rescored without it.
func (w *Window) forgetPayment(source, target *place) {
	delete(source.payees, target)
	delete(target.payers, source)
	if source.here() && target.here() {
		w.wait(source, time.Time{})
		w.wait(target, time.Time{})
	}
}

func (w *Window) dropID(p *place) {
	if p.id != "" {
		delete(w.timestepOf, p.pseudonym)
	}
}

// sweep removes places that are gone from the queues.
func (w *Window) sweep() {
	gone := func(p *place) bool { return p.gone }
	w.arrived = slices.DeleteFunc(w.arrived, gone)
	w.again = slices.DeleteFunc(w.again, gone)
}
