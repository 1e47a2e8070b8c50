package deletions

import "lethe"

// Outcome is what an erasure came to for one target.
type Outcome string

// The outcomes.
const (
	// OutcomeErased: something of it was held, and is not any more.
	OutcomeErased Outcome = "erased"
	// OutcomeAlreadyErased: another request had erased it, or was erasing it.
	OutcomeAlreadyErased Outcome = "already_erased"
	// OutcomeNothingHeld: no place held anything of it. What comes in for it is dropped
	// all the same.
	OutcomeNothingHeld Outcome = "nothing_held"
	// OutcomeHeld: a hold keeps it from being erased; the request waits.
	OutcomeHeld Outcome = "held"
)

// Valid reports whether the outcome is one of these.
func (o Outcome) Valid() bool {
	return o == OutcomeErased || o == OutcomeAlreadyErased || o == OutcomeNothingHeld || o == OutcomeHeld
}

// TargetOutcome is the outcome for one target, empty as long as it is not known.
type TargetOutcome struct {
	// Target is its keyed hash (lethe.Secret.Suppressed).
	Target lethe.Digest `json:"target"`
	// Kind is what the target is. None is a transaction, as in what earlier versions wrote.
	Kind    lethe.TargetKind `json:"kind,omitempty"`
	Outcome Outcome          `json:"outcome,omitempty"`
}

// kindOf is the kind that an outcome says.
func kindOf(t lethe.Target) lethe.TargetKind {
	if t.Kind == lethe.TransactionTarget {
		return ""
	}
	return t.Kind
}

// ValidKind reports whether the outcome's kind is one of those that there are.
func (o TargetOutcome) ValidKind() bool {
	return o.Kind == "" || o.Kind == lethe.PaymentTarget || o.Kind == lethe.SubjectTarget
}

// Decided reports whether the outcome is known.
func (o TargetOutcome) Decided() bool { return o.Outcome != "" }
