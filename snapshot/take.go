package snapshot

import (
	"errors"
	"fmt"

	"lethe"
	"lethe/snapshot/closed"
	"lethe/snapshot/index"
	"lethe/snapshot/openrows"
	"lethe/snapshot/stored"
)

// Transaction processes a transaction, once the number of features is fixed (Marks.FixFeatureCount). The features
// must not change before the batch is committed. An error is not a verdict: it means that the store could not be read,
// or that the batch is stale.
func (b *Batch) Transaction(tr lethe.Transaction, o Origin) (Verdict, error) {
	f := Marks{b.staging}.NewRedactingHashing().Foresee(tr)
	return f.Take(b, o)
}

// Take is Batch.Transaction for a foreseen transaction, in the batch that it was foreseen for.
func (f *Foreseen) Take(b *Batch, o Origin) (Verdict, error) {
	tr := f.tr
	at, v, err := b.admit(Transactions, tr.Timestep, o, tr.Subjects, tr.ID)
	if v.Late {
		v.Late, err = b.wouldTake(tr)
	}
	if err != nil || v.Outcome != "" {
		return v, err
	}
	if v := b.fits(len(tr.Features), o); v.Outcome != "" {
		return v, nil
	}
	entry, known, same, err := f.lookUp(b)
	late, isLate := b.refused(at)
	switch {
	case err != nil:
		return Verdict{}, fmt.Errorf("timestep %d: transaction: %w", tr.Timestep, err)
	case known && entry.Timestep != tr.Timestep:
		return conflict(o, tr.Timestep, entry.Timestep), nil
	}
	// Also if late: its subject may be erased before the transaction is accepted.
	b.staging.subjects.Put(b.set, tr.Timestep, tr.Subjects, tr.ID)
	switch {
	case same:
		return Verdict{Outcome: Duplicate}, nil
	case isLate:
		return refuse(o, ReasonLate, late), nil
	}
	if detail, refused := b.bound.refused(tr.Timestep); refused {
		return refuse(o, ReasonTooManyOpen, detail), nil
	}
	if err := b.store(f); err != nil {
		return Verdict{}, fmt.Errorf("timestep %d: transaction: %w", tr.Timestep, err)
	}
	return Verdict{Outcome: Accepted}, nil
}

// lookUp returns the index entry of a transaction, and whether the stored transaction is the
// same.
func (f *Foreseen) lookUp(b *Batch) (entry index.Entry, known, same bool, err error) {
	if f.known == nil || f.known != b.known {
		if err := b.Place([]*Foreseen{f}); err != nil {
			return entry, false, false, err
		}
	}
	if entry, known = f.entry.Value.entry, f.entry.Value.found; known {
		same, err = b.isKnown(f.pseudonym, f.tr.ID, entry, f.arrived)
	}
	return entry, known, same, err
}

// fits rejects another number of features than the one that is fixed; otherwise the verdict is empty.
func (b *Batch) fits(features int, o Origin) Verdict {
	switch want := b.staging.featureCount; {
	case want == 0: // the owner has seen no transaction with features
		return refuse(o, ReasonFeatureCount, fmt.Sprintf("%d features", features))
	case features != want:
		return refuse(o, ReasonFeatureCount, fmt.Sprintf("%d features, want %d", features, want))
	default:
		return Verdict{}
	}
}

// store puts a transaction into staging, replacing the known version.
func (b *Batch) store(f *Foreseen) (err error) {
	e := &f.entry.Value
	staged, wasKnown := false, e.found
	if wasKnown { // an unknown transaction has no row, because row and entry are stored together
		b.set(index.ReplacedKey(e.entry.Content), []byte{})
		if staged, err = b.outdate(f.tr.Timestep, f.pseudonym, e.fresh); err != nil {
			return err
		}
	}
	e.fresh = e.fresh || !wasKnown
	e.entry, e.found, e.changed, e.row = f.arrived, true, true, stored.Row{ID: f.tr.ID, Features: f.tr.Features}
	if !wasKnown {
		err = errors.Join(b.staging.payments.Arrived(b.get, f.pseudonym), b.staging.labels.Arrived(b.get, f.pseudonym))
	}
	if !staged {
		b.count(kindRow, f.tr.Timestep, 1)
	}
	return err
}

// outdate marks a transaction's stored row as replaced, and reports whether staging has one. A fresh transaction
// arrived in this batch and has no row in a file.
func (b *Batch) outdate(t lethe.Timestep, p lethe.Pseudonym, fresh bool) (staged bool, err error) {
	if b.info(t).State > lethe.Open {
		_, staged, err = b.get(timestepKey(kindRow, t, p))
		return staged, err
	}
	if !fresh {
		b.set(openrows.OutdatedKey(t, p), []byte{})
	}
	return true, nil
}

func conflict(o Origin, at, known lethe.Timestep) Verdict {
	return refuse(o, ReasonTimestepConflict, fmt.Sprintf("timestep %d, known in %d", at, known))
}

// admit runs the checks common to all records. A redelivered record, and one that names an erased transaction, is
// an erased payment or carries an erased subject, gets an outcome and changes nothing. Other records raise the
// watermark, and those too far ahead are rejected. If the outcome is empty, the caller continues.
func (b *Batch) admit(
	stream Stream, t lethe.Timestep, o Origin, subjects []string, about ...lethe.TransactionID,
) (arrival, Verdict, error) {
	if err := b.check(stream, t); err != nil {
		return arrival{}, Verdict{}, err
	}
	if b.redelivered(o) {
		return arrival{}, Verdict{Outcome: Duplicate}, nil
	}
	if b.staging.suppressed.Names(about) {
		return arrival{}, Verdict{Outcome: Suppressed}, nil
	}
	if b.staging.suppressed.Take(t, subjects) {
		return arrival{}, Verdict{Outcome: Suppressed, Late: true}, nil
	}
	at := b.observe(t)
	at.late = at.late && !o.InPlace
	if at.tooFar {
		return at, refuse(o, ReasonTimestepJump, at.String()), nil
	}
	return at, Verdict{}, nil
}

// wouldTake reports whether a transaction would be accepted, or was accepted, if none of its
// subjects were erased: a rejected transaction carries nothing.
func (b *Batch) wouldTake(tr lethe.Transaction) (bool, error) {
	if b.fits(len(tr.Features), Origin{}).Outcome != "" || b.arrives(tr.Timestep).tooFar {
		return false, nil
	}
	entry, known, err := index.Lookup(b.get, b.names.Pseudonym(tr.ID))
	if err != nil {
		return false, fmt.Errorf("timestep %d: transaction: %w", tr.Timestep, err)
	}
	return !known || entry.Timestep == tr.Timestep, nil
}

// Payment processes a payment, which may carry subjects. Its ends may arrive later: it is pending until its
// timestep closes.
func (b *Batch) Payment(p lethe.Payment, o Origin, subjects ...string) (Verdict, error) {
	at, v, err := b.admit(Transactions, p.Timestep, o, subjects, p.Source, p.Target)
	v.Late = v.Late && p.Source != p.Target && !b.arrives(p.Timestep).tooFar
	if err != nil || v.Outcome != "" {
		return v, err
	}
	if p.Source == p.Target {
		return refuse(o, ReasonSelfLoop, ""), nil
	}
	source, target := b.names.Pseudonym(p.Source), b.names.Pseudonym(p.Target)
	key := timestepKey(kindPayment, p.Timestep, source, target)
	_, known, err := b.get(key)
	if err == nil && !known && at.late {
		err = b.inGraph(p.Timestep, lethe.Closed, func(g closed.Graph) (err error) {
			known, err = g.HasPayment(source, target)
			return err
		})
	}
	late, isLate := b.refused(at)
	if err != nil {
		return Verdict{}, fmt.Errorf("timestep %d: payment: %w", p.Timestep, err)
	}
	b.staging.subjects.Put(b.set, p.Timestep, subjects, p.Source, p.Target)
	switch {
	case known:
		return Verdict{Outcome: Duplicate}, nil
	case isLate:
		return refuse(o, ReasonLate, late), nil
	}
	if v, err := b.room(b.staging.payments, p.Timestep, key, o); err != nil || v.Outcome != "" {
		return v, err
	}
	b.set(key, pendingPayment{source: p.Source, target: p.Target, origin: o}.encode())
	b.count(kindPayment, p.Timestep, 1)
	return Verdict{Outcome: Accepted}, nil
}

// Label processes a label. Its transaction may arrive later: it is pending until its timestep
// settles.
func (b *Batch) Label(l lethe.LabelRecord, o Origin) (Verdict, error) {
	at, v, err := b.admit(Labels, l.Timestep, o, nil, l.ID)
	if err != nil || v.Outcome != "" {
		return v, err
	}
	p := b.names.Pseudonym(l.ID)
	known, label, old, err := b.knownLabel(l.Timestep, p, at.late)
	late, isLate := b.refused(at)
	switch {
	case err != nil:
		return Verdict{}, fmt.Errorf("timestep %d: label: %w", l.Timestep, err)
	case known && label == l.Label:
		return Verdict{Outcome: Duplicate}, nil
	case isLate:
		return refuse(o, ReasonLate, late), nil
	}
	next, key := pendingLabel{label: l.Label, id: l.ID, origin: o}, timestepKey(kindLabel, l.Timestep, p)
	if old != nil {
		next.letter = old.letter
	} else if v, err := b.room(b.staging.labels, l.Timestep, key, o); err != nil || v.Outcome != "" {
		return v, err
	}
	b.set(key, next.encode())
	if old == nil || old.judged {
		b.count(kindLabel, l.Timestep, 1)
	}
	return Verdict{Outcome: Accepted}, nil
}
