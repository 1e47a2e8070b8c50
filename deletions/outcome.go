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
	// Target is its keyed hash (lethe.Secret.Suppression).
	Target  lethe.Digest `json:"target"`
	Outcome Outcome      `json:"outcome,omitempty"`
}

// Decided reports whether the outcome is known.
func (o TargetOutcome) Decided() bool { return o.Outcome != "" }
