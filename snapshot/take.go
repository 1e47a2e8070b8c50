package snapshot

import (
	"fmt"
	"slices"

	"lethe"
)

// Transaction takes a transaction. An error is not a verdict: it means that the
// store could not be read, or that the batch is over.
func (b *Batch) Transaction(tr lethe.Transaction, o Origin) (Verdict, error) {
	at, v, err := b.admit(Transactions, tr.Timestep, o, tr.ID)
	if err != nil || v.Outcome != "" {
		return v, err
	}
	if n := len(tr.Features); n == 0 || b.featureCount != 0 && n != b.featureCount {
		return refuse(o, ReasonFeatureCount, fmt.Sprintf("%d features, want %d", n, b.featureCount)), nil
	}
	secret := b.staging.options.Secret
	p, arrived := secret.Pseudonym(tr.ID), indexEntry{tr.Timestep, hashContent(secret, tr.Features)}
	entry, known, err := lookup(b.get, p)
	switch {
	case err != nil:
		return Verdict{}, fmt.Errorf("timestep %d: transaction: %w", tr.Timestep, err)
	case known && entry == arrived:
		return Verdict{Outcome: Duplicate}, nil
	case known && entry.timestep != tr.Timestep:
		detail := fmt.Sprintf("timestep %d, known in %d", tr.Timestep, entry.timestep)
		return refuse(o, ReasonTimestepConflict, detail), nil
	case at.late:
		return refuse(o, ReasonLate, at.String()), nil
	}
	b.featureCount = len(tr.Features)
	b.set(pseudonymKey(kindIndex, p), arrived.encode())
	b.set(timestepKey(kindRow, tr.Timestep, p), encodeRow(tr.ID, tr.Features))
	if !known {
		b.count(tr.Timestep, func(i *Info) { i.Nodes++ })
	}
	return Verdict{Outcome: Accepted}, nil
}

// Payment takes a payment. Its ends need not be there yet: it is pending until
// its timestep closes.
func (b *Batch) Payment(p lethe.Payment, o Origin) (Verdict, error) {
	at, v, err := b.admit(Transactions, p.Timestep, o, p.Source, p.Target)
	if err != nil || v.Outcome != "" {
		return v, err
	}
	if p.Source == p.Target {
		return refuse(o, ReasonSelfLoop, ""), nil
	}
	secret := b.staging.options.Secret
	source, target := secret.Pseudonym(p.Source), secret.Pseudonym(p.Target)
	key := timestepKey(kindPayment, p.Timestep, source, target)
	_, known, err := b.get(key)
	if err == nil && !known && at.late {
		_, known, err = b.getClosed(p.Timestep, lethe.Closed, pseudonymKey(kindEdge, source, target))
	}
	switch {
	case err != nil:
		return Verdict{}, fmt.Errorf("timestep %d: payment: %w", p.Timestep, err)
	case known:
		return Verdict{Outcome: Duplicate}, nil
	case at.late:
		return refuse(o, ReasonLate, at.String()), nil
	}
	b.set(key, pendingPayment{p.Source, p.Target, o}.encode())
	b.count(p.Timestep, func(i *Info) { i.Payments++ })
	return Verdict{Outcome: Accepted}, nil
}

// Label takes a label. Its transaction need not be there yet: it is pending
// until its timestep settles.
func (b *Batch) Label(l lethe.LabelRecord, o Origin) (Verdict, error) {
	at, v, err := b.admit(Labels, l.Timestep, o, l.ID)
	if err != nil || v.Outcome != "" {
		return v, err
	}
	p := b.staging.options.Secret.Pseudonym(l.ID)
	known, label, err := b.knownLabel(l.Timestep, p, at.late)
	switch {
	case err != nil:
		return Verdict{}, fmt.Errorf("timestep %d: label: %w", l.Timestep, err)
	case known && label == l.Label:
		return Verdict{Outcome: Duplicate}, nil
	case at.late:
		return refuse(o, ReasonLate, at.String()), nil
	}
	b.set(timestepKey(kindLabel, l.Timestep, p), pendingLabel{l.Label, l.ID, o}.encode())
	if !known {
		b.count(l.Timestep, func(i *Info) { i.Labels++ })
	}
	return Verdict{Outcome: Accepted}, nil
}

// admit does what every record begins with: one that was delivered before ends
// here; others raise the watermark; those that name an erased transaction or
// are too far ahead end here. Without an outcome the caller goes on.
func (b *Batch) admit(
	stream Stream, t lethe.Timestep, o Origin, about ...lethe.TransactionID,
) (arrival, Verdict, error) {
	if err := b.check(stream, t); err != nil {
		return arrival{}, Verdict{}, err
	}
	if b.redelivered(o) {
		return arrival{}, Verdict{Outcome: Duplicate}, nil
	}
	at := b.observe(t)
	switch {
	case slices.ContainsFunc(about, b.staging.isSuppressed):
		return at, Verdict{Outcome: Suppressed}, nil
	case at.tooFar:
		return at, refuse(o, ReasonTimestepJump, at.String()), nil
	}
	return at, Verdict{}, nil
}

// knownLabel returns the label that is pending or, for a late one, that the
// settled snapshot holds.
func (b *Batch) knownLabel(t lethe.Timestep, p lethe.Pseudonym, late bool) (bool, lethe.Label, error) {
	value, found, err := b.get(timestepKey(kindLabel, t, p))
	if err != nil {
		return false, lethe.Unknown, err
	}
	if found {
		pending, err := decodeLabel(value)
		return true, pending.label, err
	}
	if !late {
		return false, lethe.Unknown, nil
	}
	value, found, err = b.getClosed(t, lethe.Settled, pseudonymKey(kindAssigned, p))
	if err != nil || !found {
		return false, lethe.Unknown, err
	}
	label, _, err := decodeAssigned(value)
	return true, label, err
}

// getClosed reads the store of a timestep that has reached a state.
func (b *Batch) getClosed(t lethe.Timestep, state lethe.State, key []byte) (value []byte, found bool, err error) {
	if b.staging.info(t).State < state {
		return nil, false, nil
	}
	store, err := b.closed.get(t)
	if err != nil {
		return nil, false, err
	}
	return store.Get(key)
}

func hashContent(secret lethe.Secret, features []float32) contentHash {
	digest := secret.Hash("transaction-content", appendFeatures(make([]byte, 0, 4*len(features)), features))
	return contentHash(digest[:16])
}
