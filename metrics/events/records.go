package events

// Result is what became of a consumed record.
type Result string

// The results. Every consumed record has exactly one.
const (
	// Accepted: it changed or confirmed what is kept.
	Accepted Result = "accepted"
	// Duplicate: it was known already, with the same content.
	Duplicate Result = "duplicate"
	// Refused: it went to the dead letters.
	Refused Result = "refused"
	// Suppressed: it belongs to an erased subject and was dropped.
	Suppressed Result = "suppressed"
	// Ignored: it carries nothing, such as a tombstone or a marker.
	Ignored Result = "ignored"
)

// Results lists every result.
func Results() []Result { return []Result{Accepted, Duplicate, Refused, Suppressed, Ignored} }

// RecordsConsumed says that Count records of Topic had the same Result. Topic
// may have the configured prefix or not.
type RecordsConsumed struct {
	Topic  string
	Result Result
	Count  int
}

// RecordDeadLettered says that a record of Topic was kept as a dead letter for
// the Reason, a code of package ingest.
type RecordDeadLettered struct {
	Topic  string
	Reason string
}

// LagMeasured says how many records of a partition have not been consumed yet.
type LagMeasured struct {
	Topic     string
	Partition int
	Records   int64
}

// RecordsMissed says that a stretch of a partition was not read and never will be,
// for the Reason, a code of package ingest.
type RecordsMissed struct {
	Topic     string
	Partition int
	// From is the first offset, To the one behind the last.
	From, To int64
	Reason   string
}

// BrokersProbed says whether a broker answered when it was last asked.
type BrokersProbed struct{ Reachable bool }

// OutageChanged says for how many topics and partitions something is waited for, and how
// much is wrong with topics that an operator has to look at.
type OutageChanged struct{ Places, Problems int }

// DiskChanged says of how many files a write waits, because their disk does not take it.
type DiskChanged struct{ Paths int }

// WaitsChanged are the causes of what is waited for now.
type WaitsChanged struct{ Causes []string }
