package ingest

import "fmt"

// The fields of a request that name its targets are lists.

// payment is what a request for erasure names one by.
type payment struct{ source, target string }

// readList reads a list of strings, one of which has a name.
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
