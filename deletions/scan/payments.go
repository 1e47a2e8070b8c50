package scan

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"slices"

	"lethe"
	"lethe/internal/normalise"
)

// A payment is searched for as a whole: its two ends stay, and each of them says nothing
// about it. So its forms are its key, both ids beside each other as lethe writes them, the
// keys of stores that end with both pseudonyms, and, in records of producers, a JSON object
// with this source and this target in whatever spelling and order.

// PaymentFingerprints returns the forms of a payment that need no graph.
func PaymentFingerprints(secret lethe.Secret, source, target lethe.TransactionID) ([]Fingerprint, error) {
	set := fingerprintSet{secret: secret}
	key := paymentKey([]byte(source), []byte(target))
	set.add(KindPaymentKey, key)
	if len(key) >= BoundedIDBytes && !isWord(string(key)) {
		set.add(KindPayment, key)
	}
	set.add(KindPaymentText, slices.Concat(
		[]byte(`"source":"`), jsonText(source), []byte(`","target":"`), jsonText(target), []byte{'"'}))
	framed := binary.BigEndian.AppendUint32(nil, uint32(len(source)))
	framed = binary.BigEndian.AppendUint32(append(framed, source...), uint32(len(target)))
	set.add(KindPaymentFramed, append(framed, target...))
	return set.list, set.err
}

// KeyFingerprints returns those of keys under which stores hold what is erased.
func KeyFingerprints(secret lethe.Secret, kind Kind, keys [][]byte) ([]Fingerprint, error) {
	set := fingerprintSet{secret: secret}
	for _, key := range keys {
		set.add(kind, key)
	}
	return set.list, set.err
}

// TargetFingerprints returns the forms of a target that need no graph, and the kinds that
// are not searched for because they say nothing about it, ascending. Errors:
// lethe.ErrTarget, ErrNeedle.
func TargetFingerprints(secret lethe.Secret, t lethe.Target) (found []Fingerprint, notSearched []Kind, err error) {
	if err := t.Check(); err != nil {
		return nil, nil, err
	}
	switch t.Kind {
	case lethe.PaymentTarget:
		found, err = PaymentFingerprints(secret, t.Payment.Source, t.Payment.Target)
		return found, nil, err
	case lethe.SubjectTarget:
		found, err = SubjectFingerprints(secret, t.Subject, t.Until)
		return found, nil, err
	default:
	}
	if t.Kind == lethe.FeaturesTarget {
		f, err := FeaturesFingerprint(secret, t.Transaction, t.Columns)
		return []Fingerprint{f}, nil, err
	}
	found, err = TransactionFingerprints(secret, t.Transaction)
	return found, NotSearched(t.Transaction), err
}

// SpelledFingerprints returns the forms of a target as raw bytes hold them that were sent decomposed, where the rule of
// names composes them: what is decoded is compared in normal form, files of raw bytes are not. If the rule takes more
// spellings for the name, notSearched names them.
func SpelledFingerprints(secret lethe.Secret, rule normalise.Rule, t lethe.Target) (
	found []Fingerprint, notSearched []Kind, err error,
) {
	names := []string{string(t.Transaction), string(t.Payment.Source), string(t.Payment.Target), t.Subject}
	if slices.ContainsFunc(names, func(name string) bool { return name != "" && rule.Varies(name) }) {
		notSearched = []Kind{KindSpellings}
	}
	id := func(of lethe.TransactionID) lethe.TransactionID {
		return cmp.Or(lethe.TransactionID(rule.Decomposed(string(of))), of)
	}
	spelled := t
	spelled.Transaction, spelled.Subject = id(t.Transaction), cmp.Or(rule.Decomposed(t.Subject), t.Subject)
	spelled.Payment.Source, spelled.Payment.Target = id(t.Payment.Source), id(t.Payment.Target)
	switch {
	case t.Kind == lethe.FeaturesTarget: // bytes are not searched for them
		return nil, nil, nil
	case spelled.Name() == t.Name():
	case t.Kind == lethe.TransactionTarget:
		found, err = IDFingerprints(secret, spelled.Transaction)
	default:
		found, _, err = TargetFingerprints(secret, spelled)
	}
	return found, notSearched, err
}

func paymentKey(source, target []byte) []byte { return slices.Concat(source, []byte{'>'}, target) }

// paymentEnds are the source and target that the present JSON object names.
type paymentEnds struct {
	source, target []byte
	// name is the field whose value comes next.
	name []byte
	// outer are those of the objects around it.
	outer *paymentEnds
	// keeps says that objects are not told from each other, because the text is broken: then
	// every source counts with the target before it, and the other way round.
	keeps bool
}

// pass goes over what stands between two strings, where objects begin and end.
func (e *paymentEnds) pass(between []byte) {
	if e.keeps {
		return
	}
	for _, c := range between {
		switch {
		case c == '{':
			outer := *e
			*e = paymentEnds{outer: &outer}
		case c == '}' && e.outer != nil:
			*e = *e.outer
		}
	}
}

// end takes a string, which may be the name of a field or its value, and compares the payment
// if it is whole now.
func (m *jsonMatch) end(raw []byte, isName bool, offset int64) {
	if len(m.sc.payments) == 0 || m.noPayments || m.ends.keeps && string(bytes.TrimSpace(raw)) == ":" {
		return // of a broken text, what stands between strings comes too
	}
	name := m.ends.name
	if m.ends.name = nil; isName {
		m.ends.name = unescape(raw)
		return
	}
	switch string(name) {
	case "source":
		m.ends.source = unescape(raw)
	case "target":
		m.ends.target = unescape(raw)
	default:
		return
	}
	if m.ends.source == nil || m.ends.target == nil {
		return
	}
	key := paymentKey(m.ends.source, m.ends.target)
	m.match(KindPaymentKey, m.sc.payments[len(key)], key, offset)
}
