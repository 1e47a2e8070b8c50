package ingest

import (
	"fmt"

	"lethe"
)

// DecodeErasure reads a record of erasures.v1: an Erasure, an Approve, a Cancel, a Hold, a Lift
// or Ignored. A tombstone is Ignored: it purges a request whose receipt is out. Any error is
// a *Refusal.
func DecodeErasure(rec Record, limits Limits) (Event, error) {
	o, event, r := open(new(object), rec, limits, parseObject, func(string) Event { return Ignored{} })
	if o == nil {
		return outcome(event, r)
	}
	switch o.kind {
	case "erasure":
		return outcome(o.erasure(rec, limits))
	case "cancel":
		out, r := o.ofRequest(rec, cancelPrefix)
		return outcome(Cancel(out), r)
	case "approve":
		out, r := o.ofRequest(rec, approvePrefix)
		return outcome(out, r)
	case "hold":
		return outcome(o.legalHold(rec, limits))
	case "lift":
		return outcome(o.lift(rec))
	case "marker":
		return outcome(o.marker(rec))
	default:
		return nil, o.unknownType()
	}
}

func (o *object) erasure(rec Record, limits Limits) (Event, *Refusal) {
	optional := fieldNodes | fieldPayments | fieldFeaturesOf | fieldSubjects | fieldUntil | fieldScope | fieldReason |
		fieldRequestedAt | fieldNonce | fieldDeadline
	required := fieldType | fieldRequestID
	if o.present&(fieldPayments|fieldFeaturesOf|fieldSubjects) == 0 {
		required |= fieldNodes
	}
	if r := o.hold(required, optional); r != nil {
		return nil, r
	}
	if !ValidRequestID(o.requestID) {
		return nil, &Refusal{BadRequestID, "request_id is not 1..128 of A-Z a-z 0-9 . _ -"}
	}
	if string(rec.Key) != o.requestID {
		return nil, &Refusal{KeyMismatch, "the key is not the request_id"}
	}
	targets, r := o.erasureTargets(limits)
	if r != nil {
		return nil, r
	}
	scope, r := erasureScope(o.scope, o.present&fieldScope != 0)
	if r != nil {
		return nil, r
	}
	if n := reasonChars(o.reason); n > maxReasonChars {
		return nil, &Refusal{BadReasonText, fmt.Sprintf("%d characters, at most %d", n, maxReasonChars)}
	}
	if o.present&fieldNonce != 0 && !validNonce(o.nonce) {
		return nil, &Refusal{BadNonce, "nonce is not 32 hexadecimal digits 0-9 a-f"}
	}
	at, r := o.time(fieldRequestedAt, o.requestedAt)
	if r != nil {
		return nil, r
	}
	deadline, r := o.time(fieldDeadline, o.deadline)
	if r != nil {
		return nil, r
	}
	return Erasure{
		ErasureRequest: lethe.ErasureRequest{
			RequestID: o.requestID, Targets: targets, Scope: scope, Reason: o.reason, Nonce: o.nonce,
			Deadline: deadline,
		},
		RequestedAt: at,
	}, nil
}

// erasureTargets are the transactions that a request names, then the payments, then features,
// then the subjects.
func (o *object) erasureTargets(limits Limits) ([]lethe.Target, *Refusal) {
	most := limits.MaxErasureNodes
	switch n := len(o.nodes) + len(o.payments) + len(o.featuresOf) + len(o.subjects); {
	case n > 0 && n <= most:
	case len(o.featuresOf) > 0:
		return nil, &Refusal{NodeCount, fmt.Sprintf("%d nodes, payments, features and subjects, want 1..%d", n, most)}
	case len(o.payments)+len(o.subjects) == 0:
		return nil, &Refusal{NodeCount, fmt.Sprintf("%d nodes, want 1..%d", n, most)}
	default:
		return nil, &Refusal{NodeCount, fmt.Sprintf("%d nodes, payments and subjects, want 1..%d", n, most)}
	}
	var targets []lethe.Target
	if len(o.nodes) > 0 {
		nodes, r := erasureNodes(o.nodes, most)
		if r != nil {
			return nil, r
		}
		targets = lethe.Transactions(nodes...)
	}
	for i, p := range o.payments {
		if !ValidID(p.source) || !ValidID(p.target) {
			return nil, &Refusal{BadID, fmt.Sprintf("an end of payment %d is not valid", i)}
		}
		if p.source == p.target {
			return nil, &Refusal{SelfLoop, fmt.Sprintf("source and target of payment %d are the same", i)}
		}
		targets = append(targets, lethe.PaymentBetween(lethe.TransactionID(p.source), lethe.TransactionID(p.target)))
	}
	for i, f := range o.featuresOf {
		t, r := f.target(i, limits)
		if r != nil {
			return nil, r
		}
		targets = append(targets, t)
	}
	until := o.untilTimestep
	switch {
	case o.present&fieldUntil == 0:
		until = lethe.NoTimestep
	case !o.untilIsTimestep:
		return nil, &Refusal{BadType, "until is not a number"}
	}
	for i, subject := range o.subjects {
		if !ValidSubject(subject) {
			return nil, &Refusal{BadSubject, fmt.Sprintf("subject %d is no key: want %s", i, SubjectForm)}
		}
		targets = append(targets, lethe.SubjectThrough(subject, until))
	}
	return targets, nil
}

func erasureNodes(ids []string, most int) ([]lethe.TransactionID, *Refusal) {
	if len(ids) == 0 || len(ids) > most {
		return nil, &Refusal{NodeCount, fmt.Sprintf("%d nodes, want 1..%d", len(ids), most)}
	}
	nodes := make([]lethe.TransactionID, len(ids))
	for i, id := range ids {
		if !ValidID(id) {
			return nil, &Refusal{BadID, fmt.Sprintf("node %d is no id: want %s", i, IDForm)}
		}
		nodes[i] = lethe.TransactionID(id)
	}
	return nodes, nil
}

// erasureScope is empty where a record leaves it to the deployment.
func erasureScope(name string, present bool) (lethe.Scope, *Refusal) {
	if !present {
		return "", nil
	}
	switch scope := lethe.Scope(name); scope {
	case lethe.ScopeShard, lethe.ScopeStubs, lethe.ScopePartition:
		return scope, nil
	default:
		return "", &Refusal{UnknownScope, "scope is none of shard, stubs, partition"}
	}
}
