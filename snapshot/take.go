package snapshot

import (
	"fmt"

	"lethe"
)

// Transaction takes a transaction. An error is not a verdict: it means that the
// store could not be read, or that the batch is over.
func (b *Batch) Transaction(tr lethe.Transaction, o Origin) (Verdict, error) {
	if err := b.check(Transactions, tr.Timestep); err != nil {
		return Verdict{}, err
	}
	if b.again(o) {
		return Verdict{Outcome: Duplicate}, nil
	}
	at := b.observe(tr.Timestep)
	if b.s.IsSuppressed(tr.ID) {
		return Verdict{Outcome: Suppressed}, nil
	}
	if at.far {
		return rejected(o, ReasonTimestepJump, at.String()), nil
	}
	if n := len(tr.Features); n == 0 || b.featureCount != 0 && n != b.featureCount {
		return rejected(o, ReasonFeatureCount, fmt.Sprintf("%d features, want %d", n, b.featureCount)), nil
	}
	p := b.s.options.Secret.Pseudonym(tr.ID)
	entry, known, err := b.lookup(p)
	if err != nil {
		return Verdict{}, fmt.Errorf("timestep %d: transaction: %w", tr.Timestep, err)
	}
	hash := b.s.hashContent(tr.Features)
	switch {
	case known && entry == (indexEntry{tr.Timestep, hash}):
		return Verdict{Outcome: Duplicate}, nil
	case known && entry.timestep != tr.Timestep:
		detail := fmt.Sprintf("timestep %d, known in %d", tr.Timestep, entry.timestep)
		return rejected(o, ReasonTimestepConflict, detail), nil
	case at.late:
		return rejected(o, ReasonLate, at.String()), nil
	}
	b.featureCount = len(tr.Features)
	b.set(pseudonymKey(kindIndex, p), indexEntry{tr.Timestep, hash}.encode())
	b.set(rowKey(tr.Timestep, p), encodeRow(tr.ID, tr.Features))
	if !known {
		b.count(tr.Timestep, func(i *Info) { i.Nodes++ })
	}
	return Verdict{Outcome: Accepted}, nil
}

// Payment takes a payment. Its ends need not be there yet: it is judged when
// its timestep closes.
func (b *Batch) Payment(p lethe.Payment, o Origin) (Verdict, error) {
	if err := b.check(Transactions, p.Timestep); err != nil {
		return Verdict{}, err
	}
	if b.again(o) {
		return Verdict{Outcome: Duplicate}, nil
	}
	at := b.observe(p.Timestep)
	if b.s.IsSuppressed(p.Source) || b.s.IsSuppressed(p.Target) {
		return Verdict{Outcome: Suppressed}, nil
	}
	if at.far {
		return rejected(o, ReasonTimestepJump, at.String()), nil
	}
	if p.Source == p.Target {
		return rejected(o, ReasonSelfLoop, ""), nil
	}
	source, target := b.s.options.Secret.Pseudonym(p.Source), b.s.options.Secret.Pseudonym(p.Target)
	key := paymentKey(p.Timestep, source, target)
	_, known, err := b.get(key)
	if err == nil && !known && at.late {
		known, err = b.s.hasPayment(p.Timestep, source, target)
	}
	switch {
	case err != nil:
		return Verdict{}, fmt.Errorf("timestep %d: payment: %w", p.Timestep, err)
	case known:
		return Verdict{Outcome: Duplicate}, nil
	case at.late:
		return rejected(o, ReasonLate, at.String()), nil
	}
	b.set(key, pendingPayment{p.Source, p.Target, o}.encode())
	b.count(p.Timestep, func(i *Info) { i.Payments++ })
	return Verdict{Outcome: Accepted}, nil
}

// Label takes a label. Its transaction need not be there yet: it is judged
// when its timestep settles.
func (b *Batch) Label(l lethe.LabelRecord, o Origin) (Verdict, error) {
	if err := b.check(Labels, l.Timestep); err != nil {
		return Verdict{}, err
	}
	if b.again(o) {
		return Verdict{Outcome: Duplicate}, nil
	}
	at := b.observe(l.Timestep)
	if b.s.IsSuppressed(l.ID) {
		return Verdict{Outcome: Suppressed}, nil
	}
	if at.far {
		return rejected(o, ReasonTimestepJump, at.String()), nil
	}
	p := b.s.options.Secret.Pseudonym(l.ID)
	known, label, err := b.knownLabel(l.Timestep, p, at.late)
	switch {
	case err != nil:
		return Verdict{}, fmt.Errorf("timestep %d: label: %w", l.Timestep, err)
	case known && label == l.Label:
		return Verdict{Outcome: Duplicate}, nil
	case at.late:
		return rejected(o, ReasonLate, at.String()), nil
	}
	b.set(labelKey(l.Timestep, p), pendingLabel{l.Label, l.ID, o}.encode())
	if !known {
		b.count(l.Timestep, func(i *Info) { i.Labels++ })
	}
	return Verdict{Outcome: Accepted}, nil
}

// knownLabel returns the label that awaits judgement or, for a late one, that
// the settled snapshot holds.
func (b *Batch) knownLabel(t lethe.Timestep, p lethe.Pseudonym, late bool) (bool, lethe.Label, error) {
	value, found, err := b.get(labelKey(t, p))
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
	return b.s.settledLabel(t, p)
}

// lookup returns where a transaction is, this batch included.
func (b *Batch) lookup(p lethe.Pseudonym) (indexEntry, bool, error) {
	value, found, err := b.get(pseudonymKey(kindIndex, p))
	if err != nil || !found {
		return indexEntry{}, false, err
	}
	e, err := decodeIndex(value)
	return e, err == nil, err
}

func (s *Store) hashContent(features []float32) contentHash {
	digest := s.options.Secret.Hash("transaction-content", appendFeatures(make([]byte, 0, 4*len(features)), features))
	return contentHash(digest[:16])
}
