package snapshot

import (
	"bytes"
	"fmt"
	"slices"

	"lethe"
	"lethe/snapshot/closed"
	"lethe/snapshot/index"
	"lethe/snapshot/stored"
)

// Located is the data of one target in a Store, for planning an erasure.
type Located struct {
	Kind lethe.TargetKind
	// Pseudonym is that of a transaction; Payment has those of a payment's ends.
	Pseudonym lethe.Pseudonym
	Payment   lethe.PseudonymPair
	// Columns are the features to erase, if the target is features.
	Columns lethe.Columns
	// Suppressed reports whether the target is erased or being erased.
	Suppressed bool
	// Known reports whether the target itself is stored. Payments and labels may name a transaction
	// that is not. A payment is known if it is in the graph of a closed timestep, features if some
	// are not 0.
	Known bool
	// Named reports whether a pending payment or label, or an unconfirmed refusal, names the
	// transaction or is the payment. It is not computed if all targets are known.
	Named bool
	// Keys are the store keys of a payment, or of a subject's index entries: byte sequences that a
	// search of the files can look for.
	Keys [][]byte
	// Carried lists the carriers of a subject, which are erased with it. Several lists the transactions among them that
	// carry other subjects too.
	Carried []lethe.Target
	Several []lethe.TransactionID
	// Timestep and State are set if the target is known.
	Timestep lethe.Timestep
	State    lethe.State
	// Shared reports whether a transaction that is not a target has the same features.
	Shared bool
	// Row are features outside the graph that Load returns: while the timestep is open, or while a
	// correction waits.
	Row []float32
}

// RemovalOf returns the located targets as a Removal.
func RemovalOf(located []Located) lethe.Removal {
	r := lethe.Removal{
		Nodes: make(map[lethe.Pseudonym]bool), Payments: make(map[lethe.PseudonymPair]bool),
		Features: make(map[lethe.Pseudonym]lethe.Columns),
	}
	for _, l := range located {
		switch l.Kind {
		case lethe.PaymentTarget:
			r.Payments[l.Payment] = true
		case lethe.FeaturesTarget:
			r.Redact(l.Pseudonym, l.Columns)
		case lethe.SubjectTarget:
			// Its carriers are targets of their own.
		default:
			r.Nodes[l.Pseudonym] = true
		}
	}
	return r
}

// Locate finds the targets, in the order given, and the carriers of those that are subjects. It changes nothing.
// Errors: lethe.ErrTarget.
func (s *Store) Locate(targets []lethe.Target) ([]Located, error) {
	if err := lethe.CheckTargets(targets); err != nil {
		return nil, err
	}
	find, out := finder{s.staging, s.closed}, make([]Located, len(targets))
	for i, target := range targets {
		var err error
		switch target.Kind {
		case lethe.PaymentTarget:
			out[i], err = find.payment(target.Payment)
		case lethe.FeaturesTarget:
			out[i], err = find.features(target)
		case lethe.SubjectTarget:
			out[i], err = find.subject(target)
		default:
			out[i], err = find.transaction(target.Transaction)
		}
		if err != nil {
			return nil, fmt.Errorf("locate target %d: %w", i, err)
		}
		out[i].Kind = target.Kind
		out[i].Suppressed = s.staging.suppressed.Has(s.staging.options.Secret.Suppressed(target))
	}
	if err := s.staging.markShared(out); err != nil {
		return nil, fmt.Errorf("locate %d targets: %w", len(targets), err)
	}
	if err := s.staging.markNamed(out); err != nil {
		return nil, fmt.Errorf("locate %d targets: %w", len(targets), err)
	}
	return out, nil
}

// finder finds single targets.
type finder struct {
	*staging
	closed graphs
}

// subject finds the carriers of a subject.
func (f finder) subject(t lethe.Target) (Located, error) {
	c, err := f.subjects.Carried(t.Subject, t.Until)
	return Located{
		Known: len(c.By) > 0, Pseudonym: f.options.Secret.SubjectPseudonym(t.Subject),
		Carried: c.By, Several: c.Several, Keys: c.Keys,
	}, err
}

// payment finds a payment, which can only be in the graph of its source's timestep.
func (f finder) payment(p lethe.Payment) (Located, error) {
	secret := f.options.Secret
	l := Located{Payment: lethe.PseudonymPair{Source: secret.Pseudonym(p.Source), Target: secret.Pseudonym(p.Target)}}
	entry, known, err := index.Lookup(f.Get, l.Payment.Source)
	if err != nil || !known || f.Info(entry.Timestep).State == lethe.Open {
		return l, err
	}
	if l.Known, err = f.closed.at(entry.Timestep).HasPayment(l.Payment.Source, l.Payment.Target); l.Known {
		l.Timestep, l.State = entry.Timestep, f.Info(entry.Timestep).State
		l.Keys = append(l.Keys, closed.PaymentKey(l.Payment.Source, l.Payment.Target))
	}
	return l, err
}

func (f finder) transaction(id lethe.TransactionID) (Located, error) {
	l := Located{Pseudonym: f.options.Secret.Pseudonym(id)}
	entry, known, err := index.Lookup(f.Get, l.Pseudonym)
	if err != nil || !known {
		return l, err
	}
	l.Known, l.Timestep, l.State = true, entry.Timestep, f.Info(entry.Timestep).State
	value, found, err := f.rows.Get(entry.Timestep, l.Pseudonym)
	if err != nil || !found {
		return l, err
	}
	r, err := stored.DecodeRow(value)
	l.Row = r.Features
	return l, err
}

// markNamed sets Named for transactions that a pending or rejected record names, and for pending
// or rejected payments. A transaction that never arrived may be one end of a payment, or have a
// label.
func (s *staging) markNamed(located []Located) error {
	if !slices.ContainsFunc(located, func(l Located) bool { return !l.Known }) {
		return nil
	}
	wanted := RemovalOf(located).Payments
	named, keys := make(map[lethe.Pseudonym]bool), make(map[lethe.PseudonymPair][][]byte)
	note := func(key []byte, about []lethe.Pseudonym) {
		for _, p := range about {
			named[p] = true
		}
		if len(about) != 2 {
			return
		}
		if pair := (lethe.PseudonymPair{Source: about[0], Target: about[1]}); wanted[pair] {
			keys[pair] = append(keys[pair], bytes.Clone(key))
		}
	}
	for _, kind := range []byte{kindPayment, kindLabel} {
		err := s.scanThrough(kind, lethe.MaxTimestep, func(e staged) error {
			note(e.key, e.about)
			return nil
		})
		if err != nil {
			return err
		}
	}
	err := s.Scan([]byte{kindLetter}, func(key, value []byte) error {
		l, err := decodeLetter(value)
		note(key, l.about)
		return err
	})
	for i := range located {
		l := &located[i]
		switch l.Kind {
		case lethe.PaymentTarget:
		case lethe.SubjectTarget, lethe.FeaturesTarget:
			continue // payments and labels hold no features
		default:
			l.Named = named[l.Pseudonym]
			continue
		}
		l.Named = len(keys[l.Payment]) > 0
		for _, key := range keys[l.Payment] {
			if key[0] == kindPayment {
				l.Keys = append(l.Keys, key)
			}
		}
	}
	return err
}

// withCarried returns the targets and everything that carries those that are subjects, without duplicates.
func withCarried(targets []lethe.Target, located []Located) []lethe.Target {
	all := slices.Clone(targets)
	for _, l := range located {
		all = append(all, l.Carried...)
	}
	return lethe.Distinct(all)
}
