package deletions

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"lethe"
	"lethe/deletions/internal/record"
	"lethe/deletions/scan"
)

// StatusFormatName begins the format of a status.
const StatusFormatName = "lethe-erasure-status/"

const (
	statusFormat = StatusFormatName + "4"
	ackFormat    = "lethe-erasure-ack/1"
)

// Status is what the erasure-status topic says of a request, under Key. Of the
// records it holds keyed hashes only.
type Status struct {
	Format string `json:"format"`
	// RequestID is empty if it must not be told (RejectedName).
	RequestID string `json:"request_id"`
	// RequestDigest is that of the request's content (RequestDigest of package deletions):
	// whoever waits for a request goes by it.
	RequestDigest lethe.Digest `json:"request_digest,omitzero"`
	// Repeats is the digest of an earlier request for the same under the same id, whose
	// status is this one's too. It is zero if there was none.
	Repeats lethe.Digest `json:"repeats,omitzero"`

	State      State       `json:"state"`
	Scope      lethe.Scope `json:"scope"`
	Counts     Counts      `json:"counts"`
	Failure    FailureCode `json:"failure,omitempty"`
	FailedIn   State       `json:"failed_in,omitempty"`
	Attempts   int         `json:"attempts"`
	ReceivedAt time.Time   `json:"received_at"`
	UpdatedAt  time.Time   `json:"updated_at"`
	// Elapsed are the four times, as far as they are known.
	Elapsed Elapsed `json:"elapsed_ms,omitzero"`
	// Deadline is until when it should be verified, zero for no time. Overdue says that it
	// passed before.
	Deadline time.Time `json:"deadline,omitzero"`
	Overdue  bool      `json:"overdue,omitempty"`
	// BatchSize is the number of requests that are carried out together with this one,
	// itself included, or 0 as long as that is not known.
	BatchSize int `json:"batch_size,omitempty"`
	// Refitted are the groups of every component whose models were trained anew, once
	// that is known.
	Refitted []RefittedGroups `json:"groups_refitted,omitempty"`
	// HeldRequests name, of a request that is verified, something of it in their own records.
	HeldRequests []HeldRequest `json:"held_requests,omitempty"`
	// SignedBy are the thumbprints of the keys that have signed the request, where the deployment
	// asks for that.
	SignedBy []string `json:"signed_by,omitempty"`
	// WaitsFor says what a request in the state held waits for.
	WaitsFor *WaitsFor `json:"waits_for,omitempty"`
	// Outcomes are in the order of the request.
	Outcomes []TargetOutcome `json:"outcomes,omitempty"`
}

// Status returns what may be told of the entry.
func (e *Entry) Status() Status {
	s := Status{
		Format: statusFormat, RequestID: e.RequestID, RequestDigest: e.Digest, State: e.State, Scope: e.Scope,
		Counts: e.Progress.Counts, Failure: e.Failure(), FailedIn: e.FailedIn, Attempts: e.Attempts,
		ReceivedAt: e.Received(), UpdatedAt: e.Updated(), Outcomes: slices.Clone(e.Progress.Outcomes),
		Deadline: e.Deadline, Overdue: e.Overdue(),
		Elapsed: e.Elapsed(), BatchSize: e.Batch.Size, Refitted: slices.Clone(e.Progress.Refitted),
		HeldRequests: slices.Clone(e.Progress.HeldRequests), SignedBy: slices.Clone(e.SignedBy),
	}
	if e.State == Held {
		s.WaitsFor = e.Progress.WaitsFor
	}
	return s
}

// Refuse returns the answer to a request that has no place in the ledger, because of its id
// (RejectedConflict, RejectedName) or of its signatures (AboutSignatures). The entry is that of the request, at is
// when it came.
func (e *Entry) Refuse(why FailureCode, at time.Time) Status {
	s := e.Status()
	s.State, s.Failure, s.WaitsFor = Rejected, why, nil
	s.ReceivedAt, s.UpdatedAt = record.Time(at), record.Time(at)
	if why == RejectedName {
		s.RequestID = ""
	}
	return s
}

// Repeat returns the answer to a request that asks for what the first did. The entry
// is that of the later one.
func (e *Entry) Repeat(first Entry) Status {
	s := first.Status()
	s.RequestDigest, s.Repeats, s.Outcomes = e.Digest, first.Digest, slices.Clone(e.Progress.Outcomes)
	return s
}

// Key is the status's key in the topic: the request id, and for an answer to a
// request that is not the one of its id, a part of the digest too.
func (s *Status) Key() string {
	if !s.aside() {
		return s.RequestID
	}
	return s.RequestID + "/" + s.RequestDigest.String()[:digestKeyDigits]
}

const digestKeyDigits = 16

// aside reports whether the status answers a request that the ledger does not know
// by its id.
func (s *Status) aside() bool {
	return s.Failure == RejectedConflict || s.Failure == RejectedName || !s.Repeats.IsZero() ||
		s.Failure.AboutSignatures() && len(s.SignedBy) == 0
}

// Encode returns the status as canonical JSON.
func (s *Status) Encode() ([]byte, error) {
	return record.EncodeValid("erasure status", s, s.validate())
}

// DecodeStatus reads what Encode wrote.
func DecodeStatus(data []byte) (Status, error) {
	return record.DecodeValid("erasure status", statusFormat, data, (*Status).validate)
}

func (s *Status) validate() error {
	var out record.Problems
	out.Check(s.Format == statusFormat, "format is not %s", statusFormat)
	out.Check(ValidRequestID(s.RequestID) || s.RequestID == "" && s.Failure == RejectedName, "request_id is not valid")
	out.Check(!s.RequestDigest.IsZero(), "request_digest is absent")
	for i, o := range s.Outcomes {
		out.Check(!o.Decided() || o.Outcome.Valid(), "outcome %d is not known", i)
		out.Check(o.ValidKind(), "outcome %d is of no known kind of target", i)
	}
	out.Check(s.State.Valid(), "state is not known")
	out.Check(s.Scope.Valid(), "scope is none of shard, stubs, partition")
	out.Check(s.Failure.Fits(s.State), "failure does not fit the state")
	out.Check((s.State == Failed) == s.FailedIn.working(), "failed_in does not fit the state")
	out.Check(!s.UpdatedAt.Before(s.ReceivedAt), "updated_at is before received_at")
	out.Check(s.Elapsed.Ascending(), "elapsed_ms is not ascending")
	out.Check(s.BatchSize >= 0, "batch_size is negative")
	out.Check(!slices.ContainsFunc(s.Refitted, func(r RefittedGroups) bool { return !r.Valid() }),
		"groups_refitted names a group that there is not")
	return out.Err()
}

// Step is what a role acknowledges.
type Step string

// The steps.
const (
	// StepSuppressed: the role drops the records from now on.
	StepSuppressed Step = "suppressed"
	// StepPurged: the role's local state holds them no more.
	StepPurged Step = "purged"
	// StepSwapped: the role serves, or has published, the new models.
	StepSwapped Step = "swapped"
	// StepErased: the role has searched every place of its local state that held
	// the records, after it was rewritten or unlinked.
	StepErased Step = "erased"
	// StepLifted: the role takes the records of a cancelled request again.
	StepLifted Step = "lifted"
	// StepScanned: the role has searched all of its local state.
	StepScanned Step = "scanned"
)

// Ack is how a role tells the deletions role that it has done its part. It is
// written after the part is durable.
type Ack struct {
	Format    string `json:"format"`
	RequestID string `json:"request_id"`
	// Role and Instance name the process: several may play one role.
	Role     string `json:"role"`
	Instance string `json:"instance"`
	// Run is that of the process, as it said with its data directory. What an earlier one has answered says nothing of
	// what is there now: the directory may have been lost in between.
	Run  string `json:"run,omitempty"`
	Step Step   `json:"step"`
	// Attempt is the entry's Attempts when the step was asked for, so that an
	// acknowledgement of an earlier attempt is not taken for the present one.
	Attempt int `json:"attempt"`
	// Ensemble is the version that the role serves at that step, or zero.
	Ensemble lethe.Digest `json:"ensemble,omitzero"`
	// Models are the digests of that ensemble's checkpoints, in their order, the meta-model's
	// last (CheckpointDigests).
	Models []lethe.Digest `json:"models,omitempty"`
	// Scan is what StepErased or StepScanned looked at, else nil.
	Scan *scan.Summary `json:"scan,omitempty"`
	// Shards are those that were trained again, ascending.
	Shards []lethe.ShardID `json:"shards,omitempty"`
	// Components say which groups of the ensemble's components learn from Shards.
	Components []ComponentGroups `json:"components,omitempty"`
}

// NewAck returns an acknowledgement to be filled in.
func NewAck(requestID, role, instance string, step Step) Ack {
	return Ack{Format: ackFormat, RequestID: requestID, Role: role, Instance: instance, Step: step}
}

// Key is the acknowledgement's key in the topic: a later one of the same
// process and step supersedes it. One of another process of the directory does not: what that wrote may arrive late.
func (a *Ack) Key() string {
	key := fmt.Sprintf("ack/%s/%s/%s/%s", a.RequestID, a.Role, a.Instance, a.Step)
	if a.Run != "" {
		key += "/" + a.Run
	}
	return key
}

// Encode returns the acknowledgement as canonical JSON.
func (a *Ack) Encode() ([]byte, error) {
	return record.EncodeValid("erasure acknowledgement", a, a.validate())
}

// DecodeAck reads what Encode wrote.
func DecodeAck(data []byte) (Ack, error) {
	return record.DecodeValid("erasure acknowledgement", ackFormat, data, (*Ack).validate)
}

func (a *Ack) validate() error {
	var out record.Problems
	steps := []Step{StepSuppressed, StepPurged, StepSwapped, StepErased, StepScanned, StepLifted}
	searched := a.Step == StepErased || a.Step == StepScanned
	out.Check(a.Format == ackFormat, "format is not %s", ackFormat)
	out.Check(ValidRequestID(a.RequestID), "request_id is not valid")
	// These stand in a key, between slashes, and obey the same rule.
	out.Check(ValidRequestID(a.Role), "role is not valid")
	out.Check(ValidRequestID(a.Instance), "instance is not valid")
	out.Check(a.Run == "" || ValidRequestID(a.Run), "run is not valid")
	out.Check(slices.Contains(steps, a.Step), "step is not known")
	out.Check(a.Attempt >= 0, "attempt is %d, at least 0", a.Attempt)
	out.Check(!searched || a.Scan != nil, "a scan is acknowledged without its numbers")
	out.Check(record.Ascending(a.Shards, cmp.Compare), "shards are not ascending")
	a.checkComponents(&out)
	return out.Err()
}
