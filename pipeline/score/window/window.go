package window

import (
	"encoding/binary"
	"slices"
	"time"

	"lethe"
)

// Bounds are what a window takes.
type Bounds struct {
	// Places bounds the transactions and ends of payments. What comes when they are all
	// taken is left out.
	Places int
	// First is where the stream begins.
	First lethe.Timestep
	// Jump is how far a timestep may be ahead of the newest that is closed. What is
	// further ahead would stay for ever.
	Jump int
}

// Window is what has arrived of open timesteps. One goroutine uses it at a time.
type Window struct {
	secret lethe.Secret
	// names, transactions and payments make the keyed hashes of what arrives.
	names        lethe.Pseudonymizer
	transactions lethe.Suppressor
	payments     lethe.PaymentSuppressor
	bounds       Bounds
	// width is how many features a transaction has, 0 while that is not known.
	width int
	// closed is the newest timestep that is closed, or the one before the first.
	closed lethe.Timestep
	// past are the beginnings of the pseudonyms of transactions of closed timesteps. Of
	// other transactions with such a beginning it would hold one in 2^64.
	past       map[uint64]struct{}
	suppressed lethe.Suppressions
	redacted   lethe.Redactions
	steps      map[lethe.Timestep]map[lethe.Pseudonym]*place
	// home is the timestep of every transaction that has arrived: an id has one.
	home  map[lethe.Pseudonym]lethe.Timestep
	count int
	// arrived and again wait for a score, for the first one and for another.
	arrived, again []*place
}

// New returns an empty window.
func New(secret lethe.Secret, bounds Bounds) *Window {
	return &Window{
		secret: secret, bounds: bounds, closed: bounds.First - 1,
		names: secret.Pseudonymizer(), transactions: secret.Suppressor(), payments: secret.PaymentSuppressor(),
		steps: make(map[lethe.Timestep]map[lethe.Pseudonym]*place), home: make(map[lethe.Pseudonym]lethe.Timestep),
		past: make(map[uint64]struct{}),
	}
}

// Len returns how many transactions and ends of payments the window holds.
func (w *Window) Len() int { return w.count }

// SetWidth says how many features a transaction has. Others are forgotten, and not
// taken from then on: they will be in no graph.
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

// Transaction takes a transaction, in place of the one that was there, whose record was
// written at the given time; the zero time says that nobody waits for it. It keeps the
// features. It is left out if its timestep is closed or too far ahead, it is suppressed,
// its width is another, its id is known in another timestep, or the window is full.
func (w *Window) Transaction(t lethe.Transaction, written time.Time) {
	if w.width != 0 && len(t.Features) != w.width {
		return
	}
	p := w.place(t.Timestep, t.ID)
	if p == nil {
		return
	}
	if home, known := w.home[p.pseudonym]; known && home != t.Timestep {
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
	w.home[p.pseudonym] = t.Timestep
	if columns, redacted := w.redacted.Of(w.secret, t.ID); redacted {
		t.Features, _ = columns.Zeroed(t.Features)
	}
	p.id, p.features = t.ID, t.Features
	w.wait(p, written)
	p.neighbours(func(other *place) { w.wait(other, written) })
}

// Payment takes a payment, with the time as for Transaction. It is left out if its
// timestep is closed or too far ahead, it or an end of it is suppressed, an end is of a
// closed timestep, or the window is full.
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

// Close forgets a timestep and all before it, and takes nothing of them any more, nor
// these transactions in any other, which are those of its graph. It returns, ascending,
// the transactions that had arrived and are in no graph.
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
				w.unhome(p)
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

// Suppress forgets the transactions with these keyed hashes, with their payments, and the
// payments with such ones, and what carries subjects up to their timesteps, and takes them
// no more. Those that lose a neighbour wait for a
// score without it.
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

// Lift takes the transactions with these keyed hashes again when they come, and of some subjects
// what is later than a timestep.
func (w *Window) Lift(hashes []lethe.Digest, still ...lethe.SubjectUntil) {
	w.suppressed.Lift(hashes, still...)
	w.redacted.Drop(hashes)
}

// place returns where a transaction belongs, or nil if it is not wanted.
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

// wait queues a transaction, since the oldest record that it waits for.
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

// forget takes a transaction out. Its neighbours are scored without it, which nobody
// has sent a record for.
func (w *Window) forget(p *place) {
	p.neighbours(func(other *place) { w.wait(other, time.Time{}) })
	p.leave()
	w.unhome(p)
	delete(w.steps[p.at], p.pseudonym)
	w.count--
}

// hashesOf is what an erasure calls subjects.
func (w *Window) hashesOf(subjects []string) (out []lethe.Digest) {
	for _, subject := range subjects {
		out = append(out, w.secret.SuppressedSubject(subject))
	}
	return out
}

// forgetPayment takes a payment out. Its ends are scored without it.
func (w *Window) forgetPayment(source, target *place) {
	delete(source.payees, target)
	delete(target.payers, source)
	if source.here() && target.here() {
		w.wait(source, time.Time{})
		w.wait(target, time.Time{})
	}
}

func (w *Window) unhome(p *place) {
	if p.id != "" {
		delete(w.home, p.pseudonym)
	}
}

// sweep takes out of the queues, and so out of memory, what is gone.
func (w *Window) sweep() {
	gone := func(p *place) bool { return p.gone }
	w.arrived = slices.DeleteFunc(w.arrived, gone)
	w.again = slices.DeleteFunc(w.again, gone)
}
