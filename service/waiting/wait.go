package waiting

import (
	"fmt"
	"time"

	"lethe"
)

// Cause is a kind of wait. It is the label of a metric and part of the API.
type Cause string

// The causes.
const (
	// BrokersAway: no broker answers, or a partition cannot be read or written.
	BrokersAway Cause = "brokers_away"
	// TopicsWrong: topics differ from their required configuration, or records in them were lost.
	TopicsWrong Cause = "topics_wrong"
	// DiskFull: a disk accepts no writes, or soon will not.
	DiskFull Cause = "disk_full"
	// FileDescriptors: the process is about to run out of file descriptors.
	FileDescriptors Cause = "file_descriptors"
	// PartitionBehind: a partition of transactions has not passed a timestep that others have passed.
	PartitionBehind Cause = "partition_behind"
	// LabelsUnsettled: a closed timestep with labels is not settled.
	LabelsUnsettled Cause = "labels_unsettled"
	// ModelsMissing: a timestep is settled, and models of the ensemble trained through it are not published.
	ModelsMissing Cause = "models_missing"
	// StreamQuiet: a timestep is open, and no records arrive.
	StreamQuiet Cause = "stream_quiet"
	// OpenTransaction: a producer's transaction hides the records after it.
	OpenTransaction Cause = "open_transaction"
	// RecordsRejected: records of a topic are rejected; of late ones, many.
	RecordsRejected Cause = "records_rejected"
	// TimestepGap: records are rejected because their timestep is too far ahead.
	TimestepGap Cause = "timestep_gap"
	// TooManyOpen: the limit of open timesteps is reached.
	TooManyOpen Cause = "too_many_open"
	// TooManyWaiting: the limit of payments or labels that wait for their transactions is reached.
	TooManyWaiting Cause = "too_many_waiting"
	// WrongPartition: a producer does not send records to the partitions of their keys.
	WrongPartition Cause = "wrong_partition"
	// ClockAhead: records are dated in the future.
	ClockAhead Cause = "clock_ahead"
	// ProcessMissing: a data directory that shares a role has no process known to brokers, or a role has never
	// been run.
	ProcessMissing Cause = "process_missing"
	// ErasureUnanswered: erasures wait for the acknowledgement of a data directory.
	ErasureUnanswered Cause = "erasure_unanswered"
	// ErasureFailed: erasures have failed and are retried.
	ErasureFailed Cause = "erasure_failed"
	// ErasureHeld: erasures wait for a hold or a signature.
	ErasureHeld Cause = "erasure_held"
	// AlertsUndelivered: the receiver of alerts does not accept them.
	AlertsUndelivered Cause = "alerts_undelivered"
)

// Causes lists all causes, in the order in which waits are listed.
func Causes() []Cause {
	return []Cause{
		BrokersAway, TopicsWrong, DiskFull, FileDescriptors, ProcessMissing, OpenTransaction, RecordsRejected, WrongPartition,
		TimestepGap, PartitionBehind, LabelsUnsettled, ModelsMissing, StreamQuiet, TooManyOpen, TooManyWaiting,
		ClockAhead, ErasureUnanswered, ErasureFailed, ErasureHeld, AlertsUndelivered,
	}
}

// Party is the party that has to act.
type Party string

// The parties.
const (
	Producer Party = "producer"
	Operator Party = "operator"
	Broker   Party = "broker"
)

// Wait is one thing that the deployment is waiting for. It holds no personal data.
type Wait struct {
	Cause Cause `json:"cause"`
	// Since is when this process first saw it.
	Since time.Time `json:"since"`
	// Move is the party that has to act.
	Move Party `json:"move"`
	// Message describes the wait, Do the action to take: a sentence each.
	Message string `json:"says"`
	Do      string `json:"do"`
	// Topic, Partition and Timestep give the location, if there is one.
	Topic     string          `json:"topic,omitempty"`
	Partition *int            `json:"partition,omitempty"`
	Timestep  *lethe.Timestep `json:"timestep,omitempty"`
	// Role is the role, Instance the data directory, if there is one.
	Role     string `json:"role,omitempty"`
	Instance string `json:"instance,omitempty"`
}

// Decided reports whether the wait is intended and so no fault: a hold may last for months, and a second
// signature follows when its signer has read the request.
func (w Wait) Decided() bool { return w.Cause == ErasureHeld }

// key identifies a wait among those of one moment.
func (w Wait) key() string {
	out := string(w.Cause) + " " + w.Topic + w.Role + w.Instance
	if w.Partition != nil {
		out += fmt.Sprintf("/%d", *w.Partition)
	}
	return out
}
