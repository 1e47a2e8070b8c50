package events

// Result is the outcome of a consumed record.
type Result string

// The results. Every consumed record has exactly one.
const (
	// Accepted: it changed or confirmed stored data.
	Accepted Result = "accepted"
	// Duplicate: it was already known, with the same content.
	Duplicate Result = "duplicate"
	// Refused: it was rejected and published as a dead letter.
	Refused Result = "refused"
	// Suppressed: it belongs to an erased subject and was dropped.
	Suppressed Result = "suppressed"
	// Ignored: it has no effect, such as a tombstone or a marker.
	Ignored Result = "ignored"
)

// Results lists every result.
func Results() []Result { return []Result{Accepted, Duplicate, Refused, Suppressed, Ignored} }

// RecordsConsumed reports that Count records of Topic had the same Result. Topic may have the
// configured prefix or not.
type RecordsConsumed struct {
	Topic  string
	Result Result
	Count  int
}

// RecordDeadLettered reports that a record of Topic was published as a dead letter for the Reason,
// a code of package ingest.
type RecordDeadLettered struct {
	Topic  string
	Reason string
}

// LagMeasured reports how many records of a partition have not been consumed yet.
type LagMeasured struct {
	Topic     string
	Partition int
	Records   int64
}

// RecordsMissed reports that a range of a partition was not read and never will be, for the Reason,
// a code of package ingest.
type RecordsMissed struct {
	Topic     string
	Partition int
	// From is the first offset, To the one after the last.
	From, To int64
	Reason   string
}

// BrokersProbed reports whether a broker responded to the last probe.
type BrokersProbed struct{ Reachable bool }

// OutageChanged reports how many topics and partitions are unavailable, and how many problems of
// topics an operator has to check.
type OutageChanged struct{ Places, Problems int }

// DiskChanged reports how many files have writes that wait for their disk.
type DiskChanged struct{ Paths int }

// WaitsChanged are the causes of the current waits.
type WaitsChanged struct{ Causes []string }
