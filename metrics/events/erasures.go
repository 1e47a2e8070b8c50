package events

import "time"

// ErasureStates lists the states of a request, in the order in which it can pass through them.
// Package deletions defines them.
func ErasureStates() []string {
	return []string{
		"received", "accepted", "rejected", "held", "suppressed", "rewriting", "retraining", "swapped",
		"erased", "verified", "failed", "cancelled",
	}
}

// ErasureMilestones are the states with a promised time since the request was received: suppressed,
// nothing about the record is published any more; swapped, the models no longer depend on it;
// erased, every store that held it was rewritten and searched; verified, everything was searched.
func ErasureMilestones() []string { return []string{"suppressed", "swapped", "erased", "verified"} }

// ErasureChanged reports that a request entered a state, one of ErasureStates.
type ErasureChanged struct {
	Trace Trace
	State string
	// Elapsed is the time since the request was received.
	Elapsed time.Duration
	// Result is the result of a verified request, one of ErasureResults; empty in every other
	// state.
	Result string
}

// ErasureResults lists the results of verified requests. Package deletions defines them.
func ErasureResults() []string {
	return []string{"erased", "already_erased", "partly_held", "nothing_held"}
}

// ErasurePhase is a part of an erasure that is timed separately.
type ErasurePhase string

// The phases. Swap is from the swap of the ensemble to the withdrawal of the old one's predictions,
// Whole from the receipt of the request to its end.
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

// ErasurePhaseDone reports the duration of a phase of a request.
type ErasurePhaseDone struct {
	Trace    Trace
	Phase    ErasurePhase
	Duration time.Duration
}

// ErasureAnswered reports that a process has acknowledged a step of an erasure, or of the batch that
// it leads.
type ErasureAnswered struct {
	Trace Trace
	// Role and Instance identify the process, Step the completed step.
	Role, Instance, Step string
	// Duration is how long the request had been in its state.
	Duration time.Duration
}

// ErasureVerificationFailed reports that a search of the files and topics still found traces of an
// erased subject at its deadline.
type ErasureVerificationFailed struct{}

// ErasuresOpen reports how many requests are neither verified nor rejected nor cancelled, and when
// the oldest of them was received (zero if there is none).
type ErasuresOpen struct {
	Count          int
	OldestReceived time.Time
	// Overdue counts those whose deadline has passed.
	Overdue int
}
