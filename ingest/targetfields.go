package ingest

import (
	"errors"
	"fmt"
	"strings"

	"lethe"
)

// The fields of a request that name its targets are lists.

// payment identifies a payment in an erasure request.
type payment struct{ source, target string }

// readList reads a list of strings; name is what one of them is called in a refusal.
func (o *object) readList(s *scanner, f field, name string, into *[]string) *Refusal {
	if !s.take('[') {
		o.note(f, BadType, f.names()+" is not an array")
		return s.skip(0)
	}
	return s.each(']', func() *Refusal {
		if s.peek() != '"' {
			o.note(f, BadType, fmt.Sprintf("%s %d is not a string", name, len(*into)))
			return s.skip(0)
		}
		text, r := s.string()
		if r == nil {
			*into = append(*into, text)
		}
		return r
	})
}

// carried checks the subjects of a transaction or payment.
func (o *object) carried() *Refusal {
	if n := len(o.subjects); n > MaxSubjects {
		return &Refusal{SubjectCount, fmt.Sprintf("%d subjects, at most %d", n, MaxSubjects)}
	}
	for i, subject := range o.subjects {
		if !ValidSubject(subject) {
			return &Refusal{BadSubject, fmt.Sprintf("subject %d is no key: want %s", i, SubjectForm)}
		}
	}
	return nil
}

// readPayments reads the payments of a request: objects of a source and a target.
func (o *object) readPayments(s *scanner) *Refusal {
	if !s.take('[') {
		o.note(fieldPayments, BadType, "payments is not an array")
		return s.skip(0)
	}
	return s.each(']', func() *Refusal {
		wrong := func() {
			o.note(fieldPayments, BadType, fmt.Sprintf("payment %d is not an object of source and target", len(o.payments)))
		}
		if !s.take('{') {
			wrong()
			return s.skip(0)
		}
		one := object{listed: true}
		r := s.each('}', func() *Refusal { return one.member(s, 0) })
		if one.unknown || len(one.wrong) > 0 || one.present != fieldSource|fieldTarget {
			wrong()
		}
		o.payments = append(o.payments, payment{one.source, one.target})
		return r
	})
}

// The command line and the web interface write targets as texts: ids hold no '>'.

// ErrTargetText rejects a text that names no target. It gives the expected form and does
// not repeat the text.
var ErrTargetText = errors.New("not of the form")

// PaymentIn reads "A>B", the payment from one transaction to another.
func PaymentIn(text string) (lethe.Target, error) {
	source, target, joined := strings.Cut(text, ">")
	if !joined || source == target || !ValidID(source) || !ValidID(target) {
		return lethe.Target{}, errTargetText("A>B, with two transactions")
	}
	return lethe.PaymentBetween(lethe.TransactionID(source), lethe.TransactionID(target)), nil
}

// FeaturesIn reads "ID", all features of a transaction, or "ID>0,7", the features at those
// positions.
func FeaturesIn(text string) (lethe.Target, error) {
	wrong := errTargetText("ID or ID>0,7, a transaction and positions of features, counted from 0")
	id, list, some := strings.Cut(text, ">")
	if !ValidID(id) {
		return lethe.Target{}, wrong
	}
	if !some {
		return lethe.FeaturesOf(lethe.TransactionID(id)), nil
	}
	columns, err := lethe.PositionsIn(list)
	if err != nil {
		return lethe.Target{}, wrong
	}
	return lethe.FeaturesOf(lethe.TransactionID(id), columns...), nil
}

func errTargetText(form string) error { return fmt.Errorf("%w %s", ErrTargetText, form) }
