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

// Status is a request's record on erasure-status.v1, under Key. It names records by keyed hashes only.
type Status struct {
	Format string `json:"format"`
	// RequestID is empty for RejectedName.
	RequestID string `json:"request_id"`
	// RequestDigest is RequestDigest of the request; requesters wait for it.
	RequestDigest lethe.Digest `json:"request_digest,omitzero"`
	// Repeats is the digest of an earlier request for the same under the same id, whose status this is; zero for none.
	Repeats lethe.Digest `json:"repeats,omitzero"`

	State      State       `json:"state"`
	Scope      lethe.Scope `json:"scope"`
	Counts     Counts      `json:"counts"`
	Failure    FailureCode `json:"failure,omitempty"`
	FailedIn   State       `json:"failed_in,omitempty"`
	Attempts   int         `json:"attempts"`
	ReceivedAt time.Time   `json:"received_at"`
	UpdatedAt  time.Time   `json:"updated_at"`
	Elapsed    Elapsed     `json:"elapsed_ms,omitzero"`
	// Deadline is when it should be verified, zero for none. Overdue means that it passed first.
	Deadline time.Time `json:"deadline,omitzero"`
	Overdue  bool      `json:"overdue,omitempty"`
	// BatchSize is the size of the request's batch, 0 until known.
	BatchSize int `json:"batch_size,omitempty"`
	// Refitted are the retrained groups of every component, once known.
	Refitted []RefittedGroups `json:"groups_refitted,omitempty"`
	// HeldRequests have own records that name something of this verified request.
	HeldRequests []HeldRequest `json:"held_requests,omitempty"`
	// SignedBy are the thumbprints of the signing keys, where required.
	SignedBy []string `json:"signed_by,omitempty"`
	// WaitsFor is set if the state is held.
	WaitsFor *WaitsFor `json:"waits_for,omitempty"`
	// Outcomes are in request order.
	Outcomes []TargetOutcome `json:"outcomes,omitempty"`
}

// Status returns the published view of the entry.
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

// Refuse returns the status of a request that is not stored, because of its id (RejectedConflict, RejectedName) or its
// signatures. at is the time of receipt.
func (e *Entry) Refuse(why FailureCode, at time.Time) Status {
	s := e.Status()
	s.State, s.Failure, s.WaitsFor = Rejected, why, nil
	s.ReceivedAt, s.UpdatedAt = record.Time(at), record.Time(at)
	if why == RejectedName {
		s.RequestID = ""
	}
	return s
}

// Repeat returns the status of a request that repeats the first. e is the later one.
func (e *Entry) Repeat(first Entry) Status {
	s := first.Status()
	s.RequestDigest, s.Repeats, s.Outcomes = e.Digest, first.Digest, slices.Clone(e.Progress.Outcomes)
	return s
}

// Key is the record key: the request id, and for a request that is not the stored one of its id a part of the
// digest.
func (s *Status) Key() string {
	if !s.aside() {
		return s.RequestID
	}
	return s.RequestID + "/" + s.RequestDigest.String()[:digestKeyDigits]
}

const digestKeyDigits = 16

// aside reports whether the request is not the stored one of its id.
func (s *Status) aside() bool {
	return s.Failure == RejectedConflict || s.Failure == RejectedName || !s.Repeats.IsZero() ||
		s.Failure.AboutSignatures() && len(s.SignedBy) == 0
}

// Encode returns the status as canonical JSON.
func (s *Status) Encode() ([]byte, error) {
	return record.EncodeValid("erasure status", s, s.validate())
}

// DecodeStatus decodes and validates a status.
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
	out.Check(s.Scope.Valid(), "scope is not one of shard, stubs, partition")
	out.Check(s.Failure.Fits(s.State), "failure does not fit the state")
	out.Check((s.State == Failed) == s.FailedIn.working(), "failed_in does not fit the state")
	out.Check(!s.UpdatedAt.Before(s.ReceivedAt), "updated_at is before received_at")
	out.Check(s.Elapsed.Ascending(), "elapsed_ms is not ascending")
	out.Check(s.BatchSize >= 0, "batch_size is negative")
	out.Check(!slices.ContainsFunc(s.Refitted, func(r RefittedGroups) bool { return !r.Valid() }),
		"groups_refitted names a group that there is not")
	return out.Err()
}

// Step is a step that roles acknowledge.
type Step string

// The steps.
const (
	// StepSuppressed: the role drops the records.
	StepSuppressed Step = "suppressed"
	// StepPurged: the role's state holds them no more.
	StepPurged Step = "purged"
	// StepSwapped: the role serves, or has published, the new models.
	StepSwapped Step = "swapped"
	// StepErased: the role has searched every rewritten place that held the records.
	StepErased Step = "erased"
	// StepLifted: the role accepts the records of a cancelled request again.
	StepLifted Step = "lifted"
	// StepScanned: the role has searched all of its state.
	StepScanned Step = "scanned"
)

// Ack is a role's acknowledgement of a step, published once the step is durable.
type Ack struct {
	Format    string `json:"format"`
	RequestID string `json:"request_id"`
	// Role and Instance name the process; a role may have several.
	Role     string `json:"role"`
	Instance string `json:"instance"`
	// Run identifies the process. An earlier run's acknowledgement does not count: the directory may have been lost
	// since.
	Run  string `json:"run,omitempty"`
	Step Step   `json:"step"`
	// Attempt is the entry's Attempts at the command, to distinguish acknowledgements of previous ones.
	Attempt int `json:"attempt"`
	// Ensemble is the version served at that step, or zero.
	Ensemble lethe.Digest `json:"ensemble,omitzero"`
	// Models are the digests of that ensemble's checkpoints (CheckpointDigests).
	Models []lethe.Digest `json:"models,omitempty"`
	// Scan is set for StepErased and StepScanned.
	Scan *scan.Summary `json:"scan,omitempty"`
	// Shards are the retrained shards, ascending.
	Shards []lethe.ShardID `json:"shards,omitempty"`
	// Components are the groups that learn from Shards.
	Components []ComponentGroups `json:"components,omitempty"`
}

// NewAck returns an acknowledgement to be completed.
func NewAck(requestID, role, instance string, step Step) Ack {
	return Ack{Format: ackFormat, RequestID: requestID, Role: role, Instance: instance, Step: step}
}

// Key is the record key. A later one of the same process and step supersedes it; another run's does not, for it may
// arrive late.
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

// DecodeAck decodes and validates an acknowledgement.
func DecodeAck(data []byte) (Ack, error) {
	return record.DecodeValid("erasure acknowledgement", ackFormat, data, (*Ack).validate)
}

func (a *Ack) validate() error {
	var out record.Problems
	steps := []Step{StepSuppressed, StepPurged, StepSwapped, StepErased, StepScanned, StepLifted}
	searched := a.Step == StepErased || a.Step == StepScanned
	out.Check(a.Format == ackFormat, "format is not %s", ackFormat)
	out.Check(ValidRequestID(a.RequestID), "request_id is not valid")
	// These are parts of a key.
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

// ComponentGroups are the groups of a component that learn from some shards.
type ComponentGroups struct {
	Model string `json:"model"`
	// Groups is the number of groups, each a union of shards with one model.
	Groups int `json:"groups"`
	// Of is the group of each shard.
	Of []int `json:"of"`
	// Network means that its checkpoints hold the state of an optimiser and aggregation vectors.
	Network bool `json:"network,omitempty"`
}

// RefittedGroups are the retrained groups of a component.
type RefittedGroups struct {
	Model  string `json:"model"`
	Groups int    `json:"groups"`
	// Refitted ascend.
	Refitted []int `json:"refitted"`
	// Network means that its checkpoints hold the state of an optimiser and aggregation vectors.
	Network bool `json:"network,omitempty"`
}

// Refitted returns the groups of every component that learn from some of the acknowledged shards; none without
// shards.
func (a *Ack) Refitted(shards []lethe.ShardID) []RefittedGroups {
	if len(shards) == 0 {
		return nil
	}
	var out []RefittedGroups
	for _, c := range a.Components {
		r := RefittedGroups{Model: c.Model, Groups: c.Groups, Network: c.Network}
		for i, shard := range a.Shards {
			if slices.Contains(shards, shard) {
				r.Refitted = append(r.Refitted, c.Of[i])
			}
		}
		slices.Sort(r.Refitted)
		r.Refitted = slices.Compact(r.Refitted)
		out = append(out, r)
	}
	return out
}

func (a *Ack) checkComponents(out *record.Problems) {
	for i, c := range a.Components {
		out.Check(len(c.Of) == len(a.Shards), "component %d has groups of %d shards, %d are named", i, len(c.Of),
			len(a.Shards))
		out.Check(slices.IndexFunc(c.Of, func(g int) bool { return g < 0 || g >= c.Groups }) < 0,
			"component %d names a group that it has not", i)
	}
}

// Valid reports whether the groups exist.
func (r RefittedGroups) Valid() bool {
	return r.Model != "" && record.Ascending(r.Refitted, cmp.Compare) &&
		(len(r.Refitted) == 0 || r.Refitted[0] >= 0 && r.Refitted[len(r.Refitted)-1] < r.Groups)
}
