package events

import "time"

// ErasureStates lists the states of a request, in the order in which it can
// pass through them. Package deletions defines what they mean.
func ErasureStates() []string {
	return []string{
		"received", "accepted", "rejected", "held", "suppressed", "rewriting", "retraining", "swapped",
		"erased", "verified", "failed", "cancelled",
	}
}

// ErasureMilestones are the states whose time since the request was received is
// promised: nothing about the record leaves any more, the models forgot it, every
// place that held it was rewritten and searched, everything was searched.
func ErasureMilestones() []string { return []string{"suppressed", "swapped", "erased", "verified"} }

// ErasureChanged says that a request entered a state, one of ErasureStates.
type ErasureChanged struct {
	Trace Trace
	State string
	// Elapsed is the time since the request was received.
	Elapsed time.Duration
	// Result is what a verified request has found, one of ErasureResults; empty in every other state.
	Result string
}

// ErasureResults lists what a verified request may have found. Package deletions defines what they mean.
func ErasureResults() []string {
	return []string{"erased", "already_erased", "partly_held", "nothing_held"}
}

// ErasurePhase is a part of an erasure that is timed by itself.
type ErasurePhase string

// The phases. Swap reaches from the swap of the ensemble to the withdrawal of
// the predictions that the old one gave, Whole from receipt of the request to
// its end.
const (
	Suppress ErasurePhase = "suppress"
	Rewrite  ErasurePhase = "rewrite"
	Retrain  ErasurePhase = "retrain"
	Swap     ErasurePhase = "swap"
	Verify   ErasurePhase = "verify"
	Whole    ErasurePhase = "whole"
)

// ErasurePhases lists every phase.
func ErasurePhases() []ErasurePhase {
	return []ErasurePhase{Suppress, Rewrite, Retrain, Swap, Verify, Whole}
}

// ErasurePhaseDone says how long a phase of a request took.
type ErasurePhaseDone struct {
	Trace    Trace
	Phase    ErasurePhase
	Duration time.Duration
}

// ErasureAnswered says that a process has done a step of an erasure, or of the batch that one leads.
type ErasureAnswered struct {
	Trace Trace
	// Role and Instance name the process, Step what it has done.
	Role, Instance, Step string
	// Duration is how long the request had been in its state.
	Duration time.Duration
}

// ErasureVerificationFailed says that a search of the files and topics still
// found something of an erased subject when its time was up.
type ErasureVerificationFailed struct{}

// ErasuresOpen says how many requests are neither verified nor rejected nor cancelled, and
// when the oldest of them was received (zero if there is none).
type ErasuresOpen struct {
	Count          int
	OldestReceived time.Time
	// Overdue counts those whose deadline has passed.
	Overdue int
}
