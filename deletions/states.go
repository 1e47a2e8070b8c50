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
	// Held: a hold keeps a target from being erased, or one more person has to sign the
	// request. It waits, and suppresses nothing.
	Held State = "held"
	// Rejected: the request will not be carried out. Final.
	Rejected State = "rejected"
	// Suppressed: no prediction for the records leaves any more, and what comes
	// in for them is dropped.
	Suppressed State = "suppressed"
	// Rewriting: snapshots and topics are being written without the records.
	Rewriting State = "rewriting"
	// Retraining: the replaced slices are being trained on.
	Retraining State = "retraining"
	// Swapped: the new ensemble is served.
	Swapped State = "swapped"
	// Erased: every place that held the records was rewritten, unlinked and
	// searched again.
	Erased State = "erased"
	// Verified: everything was searched and nothing found. Final.
	Verified State = "verified"
	// Failed: a step did not succeed; a retry goes back to it.
	Failed State = "failed"
	// Cancelled: whoever asked for it has taken it back before anything was rewritten.
	// What it kept out is taken again, unless another request names it. Final.
	Cancelled State = "cancelled"
)

// ErrIllegalTransition refuses a move that the state machine does not have.
// Its text names both states. The caller has lost track of the request and
// should read it again.
var ErrIllegalTransition = errors.New("illegal transition")

// States lists every state in the order of the flow.
func States() []State {
	return []State{
		Received, Accepted, Rejected, Held, Suppressed, Rewriting,
		Retraining, Swapped, Erased, Verified, Failed, Cancelled,
	}
}

// Valid reports whether the state is one of States.
func (s State) Valid() bool { return slices.Contains(States(), s) }

// Final reports whether nothing follows the state.
func (s State) Final() bool { return s == Verified || s == Rejected || s == Cancelled }

// IsSwapped reports whether what is served follows from what is left, or did when the state was reached.
func (s State) IsSwapped() bool {
	return slices.Contains([]State{Swapped, Erased, Verified}, s)
}

// Cancellable reports whether a request in the state can be taken back: nothing was
// rewritten for it.
func (s State) Cancellable() bool { return slices.Contains(s.next(), Cancelled) }

// next lists the states that may follow, Failed and the way back apart.
func (s State) next() []State {
	switch s {
	case Received:
		return []State{Accepted, Rejected, Held, Cancelled}
	case Held:
		return []State{Accepted, Rejected, Cancelled}
	case Accepted:
		return []State{Suppressed, Held, Cancelled}
	case Suppressed:
		return []State{Rewriting, Held, Cancelled}
	case Rewriting:
		return []State{Retraining}
	case Retraining:
		return []State{Swapped}
	case Swapped:
		return []State{Erased}
	case Erased:
		return []State{Verified}
	default:
		return nil
	}
}

// working reports whether a step is under way that can fail.
func (s State) working() bool {
	switch s {
	case Accepted, Suppressed, Rewriting, Retraining, Swapped, Erased:
		return true
	default:
		return false
	}
}

// checkMove returns ErrIllegalTransition unless a request in state from, which
// failed in failedIn if from is Failed, may make a change.
func checkMove(from, failedIn State, change Change) error {
	to := change.State
	switch {
	case from == Failed && to == failedIn && to.working():
		return nil
	case to == Failed && from.working():
		return nil
	case change.Failure == RejectedRestored:
		if to == Rejected && (from == Failed || from.working()) {
			return nil
		}
		return fmt.Errorf("%w: from %s to %s by %s", ErrIllegalTransition, from, to, change.Failure)
	case slices.Contains(from.next(), to):
		return nil
	default:
		return fmt.Errorf("%w: from %s to %s", ErrIllegalTransition, from, to)
	}
}

// FailureCode says why a request failed or was rejected. It is one of a fixed
// list, so that no text with personal data can get into the ledger.
type FailureCode string

// The codes.
const (
	NoFailure FailureCode = ""
	// FailedBroker: a topic could not be read or written.
	FailedBroker FailureCode = "broker"
	// FailedDisk: the disk takes no writes, or has no room for the log's cleaning.
	FailedDisk FailureCode = "disk"
	// FailedTimeout: the search was not done in time.
	FailedTimeout FailureCode = "timeout"
	// FailedHits: the search found what should be gone.
	FailedHits FailureCode = "hits_remain"
	// FailedUnreadable: a batch that nobody can read may hold what should be gone.
	FailedUnreadable FailureCode = "unreadable_batch"
	// RejectedScope: the deployment's settings rule the scope out, because the
	// result would not be exact. Ask again for a wider scope.
	RejectedScope FailureCode = "scope_not_exact"
	// RejectedConflict: another request has the request id.
	RejectedConflict FailureCode = "request_id_conflict"
	// RejectedName: the request id holds the id of a target.
	RejectedName FailureCode = "request_id_names_target"
	// RejectedRestored: a backup was put back from before the request was carried out. Its
	// targets stay suppressed; what the backup holds of them is erased under another request.
	RejectedRestored FailureCode = "restored_from_backup"

	// RejectedUnsigned, RejectedKey, RejectedRole, RejectedSignature and RejectedExpired: the
	// request is not signed as the deployment requires. They are the reasons of package ingest
	// of the same words.
	RejectedUnsigned  FailureCode = "unsigned"
	RejectedKey       FailureCode = "unknown_key"
	RejectedRole      FailureCode = "wrong_role"
	RejectedSignature FailureCode = "bad_signature"
	RejectedExpired   FailureCode = "signature_expired"
)

// AboutSignatures reports whether the code says what is wrong with the signatures of a request.
func (c FailureCode) AboutSignatures() bool {
	switch c {
	case RejectedUnsigned, RejectedKey, RejectedRole, RejectedSignature, RejectedExpired:
		return true
	default:
		return false
	}
}

// Fits reports whether the code may explain the state: a code of its own for
// failed and rejected, none for the others.
func (c FailureCode) Fits(s State) bool {
	switch c {
	case NoFailure:
		return s != Failed && s != Rejected
	case FailedBroker, FailedDisk, FailedTimeout, FailedHits, FailedUnreadable:
		return s == Failed
	case RejectedScope, RejectedConflict, RejectedName, RejectedRestored:
		return s == Rejected
	default:
		return s == Rejected && c.AboutSignatures()
	}
}

// Stage is the state of the request, or, if it has failed, the one to retry from.
func (e *Entry) Stage() State {
	if e.State == Failed {
		return e.FailedIn
	}
	return e.State
}
