package deletions

import (
	"errors"
	"fmt"
	"slices"
)

// State is the state of an erasure request.
type State string

// The states. The package comment has the moves.
const (
	// Received: stored in the ledger.
	Received State = "received"
	// Accepted: valid, and will be carried out.
	Accepted State = "accepted"
	// Held: waits for a hold or another signature, and suppresses nothing.
	Held State = "held"
	// Rejected: will not be carried out. Final.
	Rejected State = "rejected"
	// Suppressed: no prediction for the records is published, and incoming records are dropped.
	Suppressed State = "suppressed"
	// Rewriting: snapshots and topics are rewritten without the records.
	Rewriting State = "rewriting"
	// Retraining: models are retrained on the replaced slices.
	Retraining State = "retraining"
	// Swapped: the new ensemble is served.
	Swapped State = "swapped"
	// Erased: every place that held the records was rewritten and searched.
	Erased State = "erased"
	// Verified: everything was searched, nothing found. Final.
	Verified State = "verified"
	// Failed: a step failed and will be retried.
	Failed State = "failed"
	// Cancelled: withdrawn by the requester before anything was rewritten. Suppression ends unless another request has
	// the target. Final.
	Cancelled State = "cancelled"
)

// ErrIllegalTransition refuses a move that the state machine lacks, and names both states. Read the request again.
var ErrIllegalTransition = errors.New("illegal transition")

// States lists the states in order.
func States() []State {
	return []State{
		Received, Accepted, Rejected, Held, Suppressed, Rewriting,
		Retraining, Swapped, Erased, Verified, Failed, Cancelled,
	}
}

// Valid reports whether the state is known.
func (s State) Valid() bool { return slices.Contains(States(), s) }

// Final reports whether no state follows.
func (s State) Final() bool { return s == Verified || s == Rejected || s == Cancelled }

// IsSwapped reports whether the retrained ensemble is served, or was.
func (s State) IsSwapped() bool {
	return slices.Contains([]State{Swapped, Erased, Verified}, s)
}

// Cancellable reports whether the request can be cancelled: nothing was rewritten.
func (s State) Cancellable() bool { return slices.Contains(s.next(), Cancelled) }

// next lists the states that may follow, besides Failed and back.
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

// working reports whether a step is running that can fail.
func (s State) working() bool {
	return slices.Contains([]State{Accepted, Suppressed, Rewriting, Retraining, Swapped, Erased}, s)
}

// checkMove returns ErrIllegalTransition unless a change from a state is legal. failedIn is the state to retry if
// from is Failed.
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

// FailureCode is why a request failed or was rejected: a fixed list, so that the ledger gets no personal data.
type FailureCode string

// The codes.
const (
	NoFailure FailureCode = ""
	// FailedBroker: a topic could not be read or written.
	FailedBroker FailureCode = "broker"
	// FailedDisk: the disk accepts no writes, or has no room to compact the log.
	FailedDisk FailureCode = "disk"
	// FailedTimeout: the search took too long.
	FailedTimeout FailureCode = "timeout"
	// FailedHits: the search found something.
	FailedHits FailureCode = "hits_remain"
	// FailedUnreadable: an unreadable batch may hold a target.
	FailedUnreadable FailureCode = "unreadable_batch"
	// RejectedScope: the scope would not be exact with these settings. Request a wider one.
	RejectedScope FailureCode = "scope_not_exact"
	// RejectedConflict: another request has the id.
	RejectedConflict FailureCode = "request_id_conflict"
	// RejectedName: the request id contains a target's id.
	RejectedName FailureCode = "request_id_names_target"
	// RejectedRestored: a restored backup predates the request. Its targets stay suppressed and are erased by another
	// request.
	RejectedRestored FailureCode = "restored_from_backup"

	// The request is not signed as required. These codes are the reasons of package ingest of the same names.
	RejectedUnsigned  FailureCode = "unsigned"
	RejectedKey       FailureCode = "unknown_key"
	RejectedRole      FailureCode = "wrong_role"
	RejectedSignature FailureCode = "bad_signature"
	RejectedExpired   FailureCode = "signature_expired"
)

// AboutSignatures reports whether the code is about signatures.
func (c FailureCode) AboutSignatures() bool {
	return slices.Contains([]FailureCode{
		RejectedUnsigned, RejectedKey, RejectedRole, RejectedSignature, RejectedExpired,
	}, c)
}

// Fits reports whether the code may explain the state.
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

// Stage is the state, or the one to retry if failed.
func (e *Entry) Stage() State {
	if e.State == Failed {
		return e.FailedIn
	}
	return e.State
}

// Elapsed are the milliseconds from receipt of a request to its first time in each state; nil for a state not
// reached.
type Elapsed struct {
	Suppressed *int64 `json:"suppressed,omitempty"`
	Swapped    *int64 `json:"swapped,omitempty"`
	Erased     *int64 `json:"erased,omitempty"`
	Verified   *int64 `json:"verified,omitempty"`
}

// StateTime is the time until a state was reached.
type StateTime struct {
	State        State
	Milliseconds int64
}

// Elapsed returns the known times of the request.
func (e *Entry) Elapsed() Elapsed {
	var out Elapsed
	fields := out.fields()
	for _, c := range e.History {
		if field := fields[c.State]; field != nil && *field == nil {
			ms := c.At.Sub(e.Received()).Milliseconds()
			*field = &ms
		}
	}
	return out
}

// Known lists the known times in the order of the states.
func (t *Elapsed) Known() (out []StateTime) {
	fields := t.fields()
	for _, state := range States() {
		if field := fields[state]; field != nil && *field != nil {
			out = append(out, StateTime{state, **field})
		}
	}
	return out
}

func (t *Elapsed) fields() map[State]**int64 {
	return map[State]**int64{
		Suppressed: &t.Suppressed, Swapped: &t.Swapped, Erased: &t.Erased, Verified: &t.Verified,
	}
}

// Ascending reports whether the times follow the order of the states.
func (t *Elapsed) Ascending() bool {
	last := int64(0)
	for _, known := range t.Known() {
		if known.Milliseconds < last {
			return false
		}
		last = known.Milliseconds
	}
	return true
}
