package deletions

import (
	"errors"
	"fmt"
	"slices"
)

// State is where an erasure request stands.
type State string

// The states; see the package comment for the legal moves.
const (
	// Received: the request is in the ledger and nothing else has happened.
	Received State = "received"
	// Accepted: the request is valid and will be carried out.
	Accepted State = "accepted"
	// Rejected: the request will not be carried out. Final.
	Rejected State = "rejected"
	// Held: a duty to keep the record stands against the request.
	Held State = "held"
	// Suppressed: no prediction for the records leaves any more, and what comes
	// in for them is dropped.
	Suppressed State = "suppressed"
	// Rewriting: snapshots and topics are being written without the records.
	Rewriting State = "rewriting"
	// Retraining: the replaced slices are being trained on.
	Retraining State = "retraining"
	// Swapped: the new ensemble is served.
	Swapped State = "swapped"
	// Verifying: every artefact is being searched.
	Verifying State = "verifying"
	// Verified: nothing was found. Final.
	Verified State = "verified"
	// Failed: a step did not succeed; a retry goes back to it.
	Failed State = "failed"
)

// ErrIllegalTransition refuses a move that the state machine does not have.
// Its text names both states. The caller has lost track of the request and
// should read it again.
var ErrIllegalTransition = errors.New("illegal transition")

// States lists every state in the order of the flow.
func States() []State {
	return []State{
		Received, Accepted, Rejected, Held, Suppressed, Rewriting,
		Retraining, Swapped, Verifying, Verified, Failed,
	}
}

// Valid reports whether the state is one of States.
func (s State) Valid() bool { return slices.Contains(States(), s) }

// Final reports whether nothing follows the state.
func (s State) Final() bool { return s == Verified || s == Rejected }

// next lists the states that may follow, Failed and the way back apart.
func (s State) next() []State {
	switch s {
	case Received:
		return []State{Accepted, Rejected, Held}
	case Held:
		return []State{Accepted, Rejected}
	case Accepted:
		return []State{Suppressed, Rejected, Held}
	case Suppressed:
		return []State{Rewriting}
	case Rewriting:
		return []State{Retraining}
	case Retraining:
		return []State{Swapped}
	case Swapped:
		return []State{Verifying}
	case Verifying:
		return []State{Verified}
	default:
		return nil
	}
}

// working reports whether a step is under way that can fail.
func (s State) working() bool {
	switch s {
	case Accepted, Suppressed, Rewriting, Retraining, Swapped, Verifying:
		return true
	default:
		return false
	}
}

// checkMove returns ErrIllegalTransition unless a request in state from, which
// failed in failedIn if from is Failed, may go to state to.
func checkMove(from, failedIn, to State) error {
	switch {
	case from == Failed && to == failedIn && to.working():
		return nil
	case to == Failed && from.working():
		return nil
	case slices.Contains(from.next(), to):
		return nil
	default:
		return fmt.Errorf("%w: from %s to %s", ErrIllegalTransition, from, to)
	}
}

// FailureCode says why a request failed, was rejected or is held. It is one of
// a fixed list, so that no text with personal data can get into the ledger.
type FailureCode string

// The codes.
const (
	NoFailure FailureCode = ""
	// FailedStore: a store could not be read or written.
	FailedStore FailureCode = "store"
	// FailedBroker: a topic could not be read or written.
	FailedBroker FailureCode = "broker"
	// FailedTraining: a shard could not be trained.
	FailedTraining FailureCode = "training"
	// FailedTimeout: an acknowledgement or a compaction did not come in time.
	FailedTimeout FailureCode = "timeout"
	// FailedInterrupted: the process stopped in the middle.
	FailedInterrupted FailureCode = "interrupted"
	// FailedHits: the search found what should be gone.
	FailedHits FailureCode = "hits_remain"
	// FailedMismatch: served bytes differ from those rebuilt from the slices.
	FailedMismatch FailureCode = "bytes_differ"
	// RejectedUnknown: lethe has never seen any of the records.
	RejectedUnknown FailureCode = "unknown_records"
	// RejectedInvalid: the request cannot be carried out as it stands.
	RejectedInvalid FailureCode = "invalid_request"
	// RejectedScope: the deployment's settings rule the scope out, because the
	// result would not be exact. Ask again for a wider scope.
	RejectedScope FailureCode = "scope_not_exact"
	// RejectedCancelled: compliance took the request back.
	RejectedCancelled FailureCode = "cancelled"
	// HeldLegal: a legal hold stands against the request.
	HeldLegal FailureCode = "legal_hold"
)

// fits reports whether the code may explain the state: a code of its own for
// failed, rejected and held, none for the others.
func (c FailureCode) fits(s State) bool {
	switch c {
	case NoFailure:
		return s != Failed && s != Rejected && s != Held
	case FailedStore, FailedBroker, FailedTraining, FailedTimeout, FailedInterrupted, FailedHits, FailedMismatch:
		return s == Failed
	case RejectedUnknown, RejectedInvalid, RejectedScope, RejectedCancelled:
		return s == Rejected
	case HeldLegal:
		return s == Held
	default:
		return false
	}
}
