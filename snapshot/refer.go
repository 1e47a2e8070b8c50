package snapshot

import (
	"fmt"

	"lethe"
	"lethe/snapshot/closed"
)

func onePaymentMore(i Info) Info {
	i.Payments++
	return i
}

func oneLabelMore(i Info) Info {
	i.Labels++
	return i
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
	if v, err := (beginning{b}).room(b.staging.payments, p.Timestep, key, o); err != nil || v.Outcome != "" {
		return v, err
	}
	b.set(key, pendingPayment{source: p.Source, target: p.Target, origin: o}.encode())
	b.wait(p.Timestep, lethe.Open, onePaymentMore)
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
	} else if v, err := (beginning{b}).room(b.staging.labels, l.Timestep, key, o); err != nil || v.Outcome != "" {
		return v, err
	}
	b.set(key, next.encode())
	if old == nil || old.judged {
		b.wait(l.Timestep, lethe.Closed, oneLabelMore)
	}
	return Verdict{Outcome: Accepted}, nil
}

// knownLabel returns the pending label in staging with its judgement or, for a late label, the
// label of the settled snapshot.
func (b *Batch) knownLabel(
	t lethe.Timestep, p lethe.Pseudonym, late bool,
) (known bool, label lethe.Label, pending *pendingLabel, err error) {
	value, found, err := b.get(timestepKey(kindLabel, t, p))
	if err != nil {
		return false, lethe.Unknown, nil, err
	}
	if found {
		pending, err := decodeLabel(value)
		return true, pending.label, &pending, err
	}
	if !late {
		return false, lethe.Unknown, nil, nil
	}
	err = b.inGraph(t, lethe.Settled, func(g closed.Graph) (err error) {
		label, known, err = g.Label(p)
		return err
	})
	return known, label, nil, err
}

// inGraph calls fn with the store of a timestep, if the timestep has reached a state.
func (b *Batch) inGraph(t lethe.Timestep, state lethe.State, fn func(closed.Graph) error) error {
	if b.staging.Info(t).State < state {
		return nil
	}
	g, err := b.closed.Get(t)
	if err != nil {
		return err
	}
	return fn(g)
}
