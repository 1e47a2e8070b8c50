package scan

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"slices"

	"lethe"
	"lethe/internal/normalise"
)

// A payment is searched as a whole, as its ends stay: its key, both ids side by side in lethe's JSON, store keys
// that end with both pseudonyms, and in original records an object with this source and target.

// PaymentFingerprints returns a payment's forms without its graph.
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

// KeyFingerprints returns the forms of store keys.
func KeyFingerprints(secret lethe.Secret, kind Kind, keys [][]byte) ([]Fingerprint, error) {
	set := fingerprintSet{secret: secret}
	for _, key := range keys {
		set.add(kind, key)
	}
	return set.list, set.err
}

// TargetFingerprints returns a target's forms without its graph, and the kinds not searched, ascending. Errors:
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

// SpelledFingerprints returns a target's forms in raw bytes that were sent decomposed, if the rule composes names:
// raw files are not compared in normal form. notSearched is set if the rule allows other spellings.
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

// paymentEnds are the source and target of the present object.
type paymentEnds struct {
	source, target []byte
	// name is the field of the next value.
	name []byte
	// outer are those of the enclosing object.
	outer *paymentEnds
	// keeps means that objects cannot be separated in a broken text: any source counts with any target near it.
	keeps bool
}

// pass follows the braces between two strings.
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

// end takes a field's name or value, and compares the payment once complete.
func (m *jsonMatch) end(raw []byte, isName bool, offset int64) {
	if len(m.sc.payments) == 0 || m.noPayments || m.ends.keeps && string(bytes.TrimSpace(raw)) == ":" {
		return // in a broken text, the text between strings is passed too
	}
	name := m.ends.name
	if m.ends.name = nil; isName {
		m.ends.name = Unescape(raw)
		return
	}
	switch string(name) {
	case "source":
		m.ends.source = Unescape(raw)
	case "target":
		m.ends.target = Unescape(raw)
	default:
		return
	}
	if m.ends.source == nil || m.ends.target == nil {
		return
	}
	key := paymentKey(m.ends.source, m.ends.target)
	m.match(KindPaymentKey, m.sc.payments[len(key)], key, offset)
}
