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

// Payment takes a payment, which may carry subjects. Its ends need not be there yet: it is pending until
// its timestep closes.
func (b *Batch) Payment(p lethe.Payment, o Origin, subjects ...string) (Verdict, error) {
	at, v, err := b.admit(Transactions, p.Timestep, o, subjects, p.Source, p.Target)
	v.Late = v.Late && p.Source != p.Target && !b.arrival(p.Timestep).tooFar
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
		if graph, has, failed := b.graph(p.Timestep, lethe.Closed); has {
			known, err = graph.HasPayment(source, target)
		} else {
			err = failed
		}
	}
	ids := []lethe.TransactionID{p.Source, p.Target}
	carrier := carrier{at: p.Timestep, about: []lethe.Pseudonym{source, target}, ids: ids}
	late, isLate := b.refused(at)
	if err != nil {
		return Verdict{}, fmt.Errorf("timestep %d: payment: %w", p.Timestep, err)
	}
	b.carry(carrier, subjects)
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

// Label takes a label. Its transaction need not be there yet: it is pending
// until its timestep settles.
func (b *Batch) Label(l lethe.LabelRecord, o Origin) (Verdict, error) {
	at, v, err := b.admit(Labels, l.Timestep, o, nil, l.ID)
	if err != nil || v.Outcome != "" {
		return v, err
	}
	p := b.staging.options.Secret.Pseudonym(l.ID)
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

// knownLabel returns the label that is in staging, and how it was judged, or, for a
// late one, the label that the settled snapshot holds.
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
	graph, settled, err := b.graph(t, lethe.Settled)
	if err != nil || !settled {
		return false, lethe.Unknown, nil, err
	}
	label, known, err = graph.Label(p)
	return known, label, nil, err
}

// graph returns the store of a timestep that has reached a state.
func (b *Batch) graph(t lethe.Timestep, state lethe.State) (g closed.Graph, reached bool, err error) {
	if b.staging.info(t).State < state {
		return closed.Graph{}, false, nil
	}
	g, err = b.closed.Get(t)
	return g, err == nil, err
}
