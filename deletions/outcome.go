package deletions

import "lethe"

// Outcome is the result of an erasure for one target.
type Outcome string

// The outcomes.
const (
	// OutcomeErased: it was held and is erased.
	OutcomeErased Outcome = "erased"
	// OutcomeAlreadyErased: another request erased it, or is erasing it.
	OutcomeAlreadyErased Outcome = "already_erased"
	// OutcomeNothingHeld: nothing was held. Later records are dropped nevertheless.
	OutcomeNothingHeld Outcome = "nothing_held"
	// OutcomeHeld: a hold protects it; the request waits.
	OutcomeHeld Outcome = "held"
)

// Valid reports whether the outcome is one of these.
func (o Outcome) Valid() bool {
	return o == OutcomeErased || o == OutcomeAlreadyErased || o == OutcomeNothingHeld || o == OutcomeHeld
}

// TargetOutcome is the outcome for one target, empty until decided.
type TargetOutcome struct {
	// Target is its keyed hash (lethe.Secret.Suppressed).
	Target lethe.Digest `json:"target"`
	// Kind is empty for a transaction.
	Kind lethe.TargetKind `json:"kind,omitempty"`
	// Columns are the erased features, empty for all; Transaction is the keyed hash of their transaction
	// (lethe.Secret.Suppression).
	Columns     lethe.Columns `json:"columns,omitempty"`
	Transaction lethe.Digest  `json:"transaction,omitzero"`
	Outcome     Outcome       `json:"outcome,omitempty"`
}

func kindOf(t lethe.Target) lethe.TargetKind {
	if t.Kind == lethe.TransactionTarget {
		return ""
	}
	return t.Kind
}

// ValidKind reports whether the kind is known and its members fit.
func (o TargetOutcome) ValidKind() bool {
	switch o.Kind {
	case lethe.FeaturesTarget:
		return !o.Transaction.IsZero() && o.Columns.Check() == nil
	case "", lethe.PaymentTarget, lethe.SubjectTarget:
		return o.Transaction.IsZero() && len(o.Columns) == 0
	default:
		return false
	}
}

func undecided(secret lethe.Secret, t lethe.Target) TargetOutcome {
	o := TargetOutcome{Target: secret.Suppressed(t), Kind: kindOf(t)}
	if t.Kind == lethe.FeaturesTarget {
		o.Columns, o.Transaction = t.Columns, secret.Suppression(t.Transaction)
	}
	return o
}

// Redactions are the features that a request erases.
func (e *Entry) Redactions() (out []lethe.Redaction) {
	for _, o := range e.Progress.Outcomes {
		if o.Kind == lethe.FeaturesTarget {
			out = append(out, lethe.Redaction{Target: o.Target, Columns: o.Columns})
		}
	}
	return out
}

// Decided reports whether the outcome is set.
func (o TargetOutcome) Decided() bool { return o.Outcome != "" }
