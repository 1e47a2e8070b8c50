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
	// Kind is what the target is. None is a transaction.
	Kind lethe.TargetKind `json:"kind,omitempty"`
	// Columns are those that features are erased of, none for all, and Transaction is the
	// keyed hash of the transaction that they are of (lethe.Secret.Suppression).
	Columns     lethe.Columns `json:"columns,omitempty"`
	Transaction lethe.Digest  `json:"transaction,omitzero"`
	Outcome     Outcome       `json:"outcome,omitempty"`
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
	switch o.Kind {
	case lethe.FeaturesTarget:
		return !o.Transaction.IsZero() && o.Columns.Check() == nil
	case "", lethe.PaymentTarget, lethe.SubjectTarget:
		return o.Transaction.IsZero() && len(o.Columns) == 0
	default:
		return false
	}
}

// undecided is the outcome of a target of which nothing is known yet.
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

// Decided reports whether the outcome is known.
func (o TargetOutcome) Decided() bool { return o.Outcome != "" }
