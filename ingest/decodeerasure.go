package ingest

import (
	"fmt"
	"slices"

	"lethe"
	"lethe/internal/normalise"
)

// DecodeErasure decodes a record of erasures.v1 to an Erasure, an Approve, a Cancel, a Hold, a
// Lift or Ignored. A tombstone is Ignored: it purges a request whose receipt has been
// published. Any error is a *Refusal.
func DecodeErasure(rec Record, limits Limits) (Event, error) {
	o, event, r := open(new(object), rec, limits, parseObject)
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
	named, r := o.erasureTargets(limits)
	if r != nil {
		return nil, r
	}
	targets := limits.Targets(named)
	if slices.EqualFunc(named, targets, func(a, b lethe.Target) bool { return a.Name() == b.Name() }) {
		named = nil
	}
	scope, r := erasureScope(o.scope, o.present&fieldScope != 0)
	if r != nil {
		return nil, r
	}
	if n := reasonChars(o.reason); n > maxReasonChars {
		return nil, &Refusal{BadReasonText, fmt.Sprintf("reason has %d characters, want at most %d", n, maxReasonChars)}
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
			RequestID: o.requestID, Targets: targets, Named: named, Scope: scope, Reason: o.reason, Nonce: o.nonce,
			Deadline: deadline,
		},
		RequestedAt: at,
	}, nil
}

// Targets returns targets with normalised names.
func (l Limits) Targets(named []lethe.Target) []lethe.Target {
	id := func(id lethe.TransactionID) lethe.TransactionID { return lethe.TransactionID(l.Name(string(id))) }
	out := slices.Clone(named)
	for i := range out {
		t := &out[i]
		t.Transaction, t.Subject = id(t.Transaction), l.Name(t.Subject)
		t.Payment.Source, t.Payment.Target = id(t.Payment.Source), id(t.Payment.Target)
	}
	return out
}

// Name is the normal form of an id or a subject.
func (l Limits) Name(name string) string { return normalise.Rule(l.Normalise).Name(name) }

// erasureTargets returns the targets of a request, as the request spells them: transactions, then
// payments, then features, then subjects.
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
		nodes, r := erasureNodes(o.nodes, limits)
		if r != nil {
			return nil, r
		}
		targets = lethe.Transactions(nodes...)
	}
	for i, p := range o.payments {
		source, target := limits.Name(string(p.Source)), limits.Name(string(p.Target))
		if !lethe.ValidID(source) || !lethe.ValidID(target) {
			return nil, &Refusal{BadID, fmt.Sprintf("an end of payment %d is not valid", i)}
		}
		if source == target {
			return nil, &Refusal{SelfLoop, fmt.Sprintf("source and target of payment %d are the same", i)}
		}
		targets = append(targets, lethe.PaymentBetween(p.Source, p.Target))
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
		return nil, &Refusal{BadType, "until is not an integer of 0..2^53"}
	}
	for i, subject := range o.subjects {
		if !lethe.ValidSubject(limits.Name(subject)) {
			return nil, &Refusal{BadSubject, fmt.Sprintf("subject %d is no key: want %s", i, lethe.SubjectForm)}
		}
		targets = append(targets, lethe.SubjectThrough(subject, until))
	}
	return targets, nil
}

func erasureNodes(ids []string, limits Limits) ([]lethe.TransactionID, *Refusal) {
	most := limits.MaxErasureNodes
	if len(ids) == 0 || len(ids) > most {
		return nil, &Refusal{NodeCount, fmt.Sprintf("%d nodes, want 1..%d", len(ids), most)}
	}
	nodes := make([]lethe.TransactionID, len(ids))
	for i, id := range ids {
		if !lethe.ValidID(limits.Name(id)) {
			return nil, &Refusal{BadID, fmt.Sprintf("node %d is no id: want %s", i, lethe.IDForm)}
		}
		nodes[i] = lethe.TransactionID(id)
	}
	return nodes, nil
}

// erasureScope is empty if the record leaves the scope to the deployment.
func erasureScope(name string, present bool) (lethe.Scope, *Refusal) {
	if !present {
		return "", nil
	}
	switch scope := lethe.Scope(name); scope {
	case lethe.ScopeShard, lethe.ScopeStubs, lethe.ScopePartition:
		return scope, nil
	default:
		return "", &Refusal{UnknownScope, "scope is not one of shard, stubs, partition"}
	}
}
