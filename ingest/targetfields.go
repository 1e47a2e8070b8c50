package ingest

import "fmt"

// The fields of a request that name its targets are lists.

// payment is what a request for erasure names one by.
type payment struct{ source, target string }

// readNodes reads the transactions of a request.
func (o *object) readNodes(s *scanner) *Refusal {
	if !s.take('[') {
		o.note(fieldNodes, BadType, "nodes is not an array")
		return s.skip(0)
	}
	return s.each(']', func() *Refusal {
		if s.peek() != '"' {
			o.note(fieldNodes, BadType, fmt.Sprintf("node %d is not a string", len(o.nodes)))
			return s.skip(0)
		}
		text, r := s.string()
		if r == nil {
			o.nodes = append(o.nodes, text)
		}
		return r
	})
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
		var one object
		r := s.each('}', func() *Refusal { return one.member(s, 0) })
		if one.unknown || len(one.wrong) > 0 || one.present != fieldSource|fieldTarget {
			wrong()
		}
		o.payments = append(o.payments, payment{one.source, one.target})
		return r
	})
}
