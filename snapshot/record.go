package snapshot

import (
	"lethe"
	"lethe/snapshot/closed"
)

// Stream identifies which records a partition carries.
type Stream uint8

// The streams. A topic of NoStream carries no records for the graphs; its offset is stored
// nevertheless.
const (
	NoStream Stream = iota
	Transactions
	Labels
)

// Source is one partition of a topic. Topic and Partition identify the stored offset, Stream and
// Partition the watermark.
type Source struct {
	Stream    Stream
	Topic     string
	Partition int
}

// TopicPartition identifies a stored offset.
type TopicPartition struct {
	Topic     string
	Partition int
}

// Origin is the original record without headers: these may name anything, and the store keeps only what an erasure
// finds by its key. It is stored while the record is pending and is returned with a refusal. This package interprets
// only Offset, a record below the stored offset being a redelivery, and InPlace.
type Origin struct {
	Topic          string
	Partition      int
	Offset         int64
	TimeUnixMillis int64
	// InPlace marks a record that replaces an earlier one in the log and therefore is never late. It
	// is not stored.
	InPlace bool
	// Key and Value may be nil, which is not the same as empty.
	Key, Value []byte
}

// Outcome is how a record was handled.
type Outcome string

// The outcomes. An Accepted record is stored. It may still be rejected: a payment or label when its timestep closes or
// settles (and accepted again once its transactions arrive), a transaction when the number of features is decided. A
// Duplicate changes nothing. A Suppressed record names an erased transaction and must be dropped without a copy. A
// Refused record has a Refusal and belongs in the dead letters.
const (
	Accepted   Outcome = "accepted"
	Duplicate  Outcome = "duplicate"
	Suppressed Outcome = "suppressed"
	Refused    Outcome = "refused"
)

// Verdict is the outcome and, if Refused, the reason.
type Verdict struct {
	Outcome Outcome
	Refusal *Refusal
	// Late marks a Suppressed record that is suppressed only because of a subject that it carries:
	// the transaction or payment is not itself suppressed, so other records that name it are not
	// either.
	Late bool
}

// The reasons of a Refusal: codes shared with package ingest.
const (
	ReasonLate               = "late"                // its timestep no longer accepts records
	ReasonTimestepJump       = "timestep_jump"       // its timestep is too far ahead of its partition
	ReasonTimestepConflict   = "timestep_conflict"   // the transaction is known in another timestep
	ReasonFeatureCount       = "feature_count"       // no features, or an unexpected number
	ReasonSelfLoop           = "self_loop"           // a payment to itself
	ReasonUnknownEndpoint    = "unknown_endpoint"    // a payment names a transaction unknown up to its timestep
	ReasonCrossTimestep      = "cross_timestep"      // the transaction belongs to an earlier timestep
	ReasonTooManyWaiting     = "too_many_waiting"    // the bound of waiting payments or labels is reached
	ReasonTooManyOpen        = "too_many_open"       // the bound of open timesteps is reached
	ReasonUnknownTransaction = "unknown_transaction" // a label for a transaction unknown up to its timestep
)

// Refusal is a record that was rejected. Detail contains numbers, never an id or other content.
type Refusal struct {
	Origin Origin
	Reason string
	Detail string
}

func refuse(o Origin, reason, detail string) Verdict {
	return Verdict{Outcome: Refused, Refusal: &Refusal{Origin: o, Reason: reason, Detail: detail}}
}

// Info is the state and size of a timestep.
type Info struct {
	Timestep lethe.Timestep
	State    lethe.State
	// Revision is 0 while the timestep is open.
	Revision lethe.Revision
	// Nodes counts transactions.
	Nodes int
	// Payments counts the payments of the graph or, while the timestep is open, the pending payments
	// that were not rejected.
	Payments int
	// Labels counts the pending labels that were not rejected or, once the timestep is settled, the
	// transactions labelled licit or illicit.
	Labels int
	// Previous is the settled timestep before this one, or lethe.NoTimestep.
	Previous lethe.Timestep
	// Waiting counts the late records that wait to join a closed timestep.
	Waiting int
	// Reopened is the last revision caused by late records, or by the insertion or deletion of the
	// timestep before this one; at least the first revision. Later revisions are those of erasures.
	Reopened lethe.Revision
	// Files are the files of a closed timestep.
	Files closed.Files
}

// withLabels counts the labels of a settled graph.
func (i Info) withLabels(g *lethe.Snapshot) Info {
	i.Labels = 0
	for _, n := range g.Nodes {
		if n.Label != lethe.Unknown {
			i.Labels++
		}
	}
	return i
}

// known reports whether the timestep takes part in closing and settling. A timestep with only
// payments or labels is judged with the next known one.
func (i Info) known() bool { return i.State > lethe.Open || i.Nodes > 0 }

// empty reports whether the info need not be stored.
func (i Info) empty() bool { return !i.known() && i.Payments == 0 && i.Labels == 0 }
