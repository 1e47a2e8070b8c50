package ingest

import "slices"

// Reason is the stable code of why a record is rejected. Codes are part of the interface
// to operators (dead letters, metric labels): new ones may be added, existing ones are
// never renamed.
type Reason string

// Reasons found by decoding one record alone.
const (
	TooLarge         Reason = "too_large"          // over Limits.MaxRecordBytes
	MissingKey       Reason = "missing_key"        // the record has no key
	Unparseable      Reason = "unparseable"        // neither one JSON object of valid UTF-8 nor a binary record
	DuplicateField   Reason = "duplicate_field"    // a field is given twice
	UnknownType      Reason = "unknown_type"       // the type does not belong to the topic
	UnknownField     Reason = "unknown_field"      // a field does not belong to the type
	MissingField     Reason = "missing_field"      // a required field is absent
	BadType          Reason = "bad_type"           // a field holds another kind of value
	BadID            Reason = "bad_id"             // a transaction id breaks the rules of ValidID
	KeyMismatch      Reason = "key_mismatch"       // the key does not belong to the value
	BadTimestep      Reason = "bad_timestep"       // not an integer of 0..2^53
	FeatureCount     Reason = "feature_count"      // none, or another number than expected
	FeatureNotFinite Reason = "feature_not_finite" // a feature is no finite float32
	FeatureMagnitude Reason = "feature_magnitude"  // a feature is beyond Limits.MaxMagnitude
	UnknownLabel     Reason = "unknown_label"      // none of illicit, licit, unknown
	SelfLoop         Reason = "self_loop"          // a payment to itself
	BadRequestID     Reason = "bad_request_id"     // breaks the rules of ValidRequestID
	NodeCount        Reason = "node_count"         // no node, or more than Limits.MaxErasureNodes
	UnknownScope     Reason = "unknown_scope"      // none of shard, stubs, partition
	BadReasonText    Reason = "bad_reason_text"    // longer than 1,024 characters
	BadTime          Reason = "bad_time"           // no RFC 3339 time
	BadNonce         Reason = "bad_nonce"          // not 32 hexadecimal digits
	BadColumn        Reason = "bad_column"         // beyond Limits.MaxFeatureCount
	BadDigest        Reason = "bad_digest"         // not 64 hexadecimal digits
	SubjectCount     Reason = "subject_count"      // more than MaxSubjects
	BadSubject       Reason = "bad_subject"        // a subject breaks the rules of ValidSubject
	UnknownSchema    Reason = "unknown_schema"     // a binary record of another schema than Limits.SchemaID
	WrongPartition   Reason = "wrong_partition"    // not in the partition of its key
)

// Reasons found in the signatures of a record, if signatures are required (package
// authority).
const (
	Unsigned         Reason = "unsigned"          // it has no signature
	UnknownKey       Reason = "unknown_key"       // signed by a key that is not in the file of keys
	WrongRole        Reason = "wrong_role"        // signed by a key whose role does not allow it
	BadSignature     Reason = "bad_signature"     // the signature is not of this record
	SignatureExpired Reason = "signature_expired" // the signature has expired or is not valid yet
	SamePerson       Reason = "same_person"       // approved by the person who has already signed it
)

// Reasons found by comparing a record with what is already known.
const (
	Late               Reason = "late"                // its timestep no longer accepts records
	TimestepJump       Reason = "timestep_jump"       // its timestep is too far ahead of its partition
	CrossTimestep      Reason = "cross_timestep"      // a payment joins two timesteps
	TooManyWaiting     Reason = "too_many_waiting"    // the limit of records that wait for transactions is reached
	TooManyOpen        Reason = "too_many_open"       // the limit of open timesteps is reached
	UnknownEndpoint    Reason = "unknown_endpoint"    // a payment names an unknown transaction
	UnknownTransaction Reason = "unknown_transaction" // a label names an unknown transaction
	TimestepConflict   Reason = "timestep_conflict"   // the transaction is known in another timestep
)

// Reasons of dead letters for a range of a partition that could not be read. They have no
// key and no value, and are identified by the first offset of the range.
const (
	CorruptBatch  Reason = "corrupt_batch"  // the bytes in the log are not records
	RemovedUnread Reason = "removed_unread" // the broker dropped them before they were read
	Unproven      Reason = "unproven"       // on one of lethe's own topics, without the deployment's code
)

// Disposition defines whether a dead letter can be replayed.
type Disposition string

// The dispositions.
const (
	// Permanent: the record itself is wrong; a replay fails again.
	Permanent Disposition = "permanent"
	// Replayable: the record may be accepted once a missing record has arrived.
	Replayable Disposition = "replayable"
	// Withheld: it holds an erased or unverified id; neither key nor value is stored.
	Withheld Disposition = "withheld"
)

// registered is a reason and the disposition of its dead letters.
type registered struct {
	reason      Reason
	disposition Disposition
}

// registry lists every reason, in the order in which they are documented. A new reason
// needs its code above and its row here: dead letters, metrics and the tests that cover
// every reason use this list.
func registry() []registered {
	return []registered{
		{TooLarge, Permanent},
		{MissingKey, Permanent},
		{Unparseable, Permanent},
		{DuplicateField, Permanent},
		{UnknownType, Permanent},
		{UnknownField, Permanent},
		{MissingField, Permanent},
		{BadType, Permanent},
		{BadID, Permanent},
		{KeyMismatch, Permanent},
		{BadTimestep, Permanent},
		{FeatureCount, Permanent},
		{FeatureNotFinite, Permanent},
		{FeatureMagnitude, Permanent},
		{UnknownLabel, Permanent},
		{SelfLoop, Permanent},
		{BadRequestID, Permanent},
		{NodeCount, Permanent},
		{UnknownScope, Permanent},
		{BadReasonText, Permanent},
		{BadTime, Permanent},
		{BadColumn, Permanent},
		{BadNonce, Permanent},
		{BadDigest, Permanent},
		{SubjectCount, Permanent},
		{BadSubject, Permanent},
		{UnknownSchema, Replayable},
		{WrongPartition, Replayable},
		{Unsigned, Replayable},
		{UnknownKey, Replayable},
		{WrongRole, Replayable},
		{BadSignature, Permanent},
		{SignatureExpired, Permanent},
		{SamePerson, Permanent},
		{Late, Replayable},
		{TimestepJump, Replayable},
		{CrossTimestep, Permanent},
		{TooManyWaiting, Replayable},
		{TooManyOpen, Replayable},
		{UnknownEndpoint, Replayable},
		{UnknownTransaction, Replayable},
		{TimestepConflict, Permanent},
		{CorruptBatch, Permanent}, {Unproven, Permanent},
		{RemovedUnread, Permanent},
	}
}

// Reasons lists every reason, in the order in which they are documented.
func Reasons() []Reason {
	var out []Reason
	for _, r := range registry() {
		out = append(out, r.reason)
	}
	return out
}

// Known reports whether the code is one of Reasons.
func (r Reason) Known() bool { return slices.Contains(Reasons(), r) }

// Disposition returns the disposition of dead letters with this reason.
func (r Reason) Disposition() Disposition {
	for _, known := range registry() {
		if known.reason == r {
			return known.disposition
		}
	}
	return Permanent
}

// Refusal is the error of a rejected record. The caller publishes the record as a
// DeadLetter and continues. Detail gives positions, counts and bounds, never an id,
// a feature or other content.
//
//nolint:errname // "refusal" is the word of the record formats and the operators' guide
type Refusal struct {
	Reason Reason
	Detail string
}

// Error returns the reason and the detail.
func (r *Refusal) Error() string {
	if r.Detail == "" {
		return "record refused: " + string(r.Reason)
	}
	return "record refused: " + string(r.Reason) + ": " + r.Detail
}
