package snapshot

// Stream tells which records a partition carries.
type Stream uint8

// The streams. A topic of NoStream brings no records for the graphs; its
// offset and its marks are stored all the same.
const (
	NoStream Stream = iota
	Transactions
	Labels
)

// Source is one partition of a topic. Topic and Partition name the stored
// offset, Stream and Partition the watermark.
type Source struct {
	Stream    Stream
	Topic     string
	Partition int
}

// TopicPartition names a stored offset.
type TopicPartition struct {
	Topic     string
	Partition int
}

// Header is a header of an original record.
type Header struct {
	Key   string
	Value []byte
}

// Origin is the record as it was read. It is kept while the record awaits
// judgement and given back with a refusal. Only Offset has a meaning here:
// below the stored offset, a record was delivered again.
type Origin struct {
	Topic          string
	Partition      int
	Offset         int64
	TimeUnixMillis int64
	// Key and Value may be nil, which is not the same as empty.
	Key, Value []byte
	Headers    []Header
}

// Outcome is what became of a record.
type Outcome uint8

// The outcomes. An Accepted record is stored (a payment or label may still be
// refused when its timestep closes or settles). A Duplicate changes nothing. A
// Suppressed record names an erased transaction and must be dropped without a
// copy. A Rejected record has a Refused and belongs into a dead letter.
const (
	Accepted Outcome = iota + 1
	Duplicate
	Suppressed
	Rejected
)

// String returns the outcome's name, for metrics.
func (o Outcome) String() string {
	switch o {
	case Accepted:
		return "accepted"
	case Duplicate:
		return "duplicate"
	case Suppressed:
		return "suppressed"
	case Rejected:
		return "rejected"
	default:
		return "none"
	}
}

// Verdict is the outcome and, if it is Rejected, why.
type Verdict struct {
	Outcome Outcome
	Refused *Refused
}

// The reasons of a Refused: codes shared with package ingest.
const (
	ReasonLate               = "late"                // its timestep no longer takes records
	ReasonTimestepJump       = "timestep_jump"       // its timestep is too far ahead of its partition
	ReasonTimestepConflict   = "timestep_conflict"   // the transaction is known in another timestep
	ReasonFeatureCount       = "feature_count"       // none, or another number than expected
	ReasonSelfLoop           = "self_loop"           // a payment to itself
	ReasonUnknownEndpoint    = "unknown_endpoint"    // a payment names a transaction not known up to its timestep
	ReasonCrossTimestep      = "cross_timestep"      // the transaction is of an earlier timestep
	ReasonUnknownTransaction = "unknown_transaction" // a label for a transaction not known up to its timestep
)

// Refused is a record that cannot be taken. Detail gives numbers, never an id
// or other content.
type Refused struct {
	Origin Origin
	Reason string
	Detail string
}

func rejected(o Origin, reason, detail string) Verdict {
	return Verdict{Outcome: Rejected, Refused: &Refused{Origin: o, Reason: reason, Detail: detail}}
}
