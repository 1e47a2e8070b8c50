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

const (
	statusFormat = "lethe-erasure-status/1"
	ackFormat    = "lethe-erasure-ack/1"
)

// Status is what the erasure-status topic says of a request, under the request
// id as its key. It holds no hash of a record either.
type Status struct {
	Format     string      `json:"format"`
	RequestID  string      `json:"request_id"`
	State      State       `json:"state"`
	Scope      lethe.Scope `json:"scope"`
	Counts     Counts      `json:"counts"`
	Failure    FailureCode `json:"failure,omitempty"`
	FailedIn   State       `json:"failed_in,omitempty"`
	Attempts   int         `json:"attempts"`
	ReceivedAt time.Time   `json:"received_at"`
	UpdatedAt  time.Time   `json:"updated_at"`
}

// Status returns what may be told of the entry.
func (e *Entry) Status() Status {
	return Status{
		Format: statusFormat, RequestID: e.RequestID, State: e.State, Scope: e.Scope,
		Counts: e.Progress.Counts, Failure: e.Failure(), FailedIn: e.FailedIn, Attempts: e.Attempts,
		ReceivedAt: e.Received(), UpdatedAt: e.Updated(),
	}
}

// Encode returns the status as canonical JSON.
func (s *Status) Encode() ([]byte, error) {
	if err := s.validate(); err != nil {
		return nil, fmt.Errorf("erasure status: %w", err)
	}
	return record.Encode(s)
}

// DecodeStatus reads what Encode wrote.
func DecodeStatus(data []byte) (Status, error) {
	var s Status
	if err := record.Decode(data, statusFormat, &s); err != nil {
		return Status{}, fmt.Errorf("erasure status: %w", err)
	}
	if err := s.validate(); err != nil {
		return Status{}, fmt.Errorf("erasure status: %w: %w", ErrFormat, err)
	}
	return s, nil
}

func (s *Status) validate() error {
	var out record.Problems
	out.Check(s.Format == statusFormat, "format is not %s", statusFormat)
	out.Check(ValidRequestID(s.RequestID), "request_id is not valid")
	out.Check(s.State.Valid(), "state is not known")
	out.Check(s.Scope.Valid(), "scope is none of shard, stubs, partition")
	out.Check(s.Failure.fits(s.State), "failure does not fit the state")
	out.Check((s.State == Failed) == s.FailedIn.working(), "failed_in does not fit the state")
	out.Check(!s.UpdatedAt.Before(s.ReceivedAt), "updated_at is before received_at")
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
	// StepScanned: the role has searched its local state.
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
	Step     Step   `json:"step"`
	// Attempt is the entry's Attempts when the step was asked for, so that an
	// acknowledgement of an earlier attempt is not taken for the present one.
	Attempt int `json:"attempt"`
	// Ensemble is the version that the role serves at that step, or zero.
	Ensemble lethe.Digest `json:"ensemble,omitzero"`
	// Scan is what StepScanned looked at, else nil.
	Scan *scan.Summary `json:"scan,omitempty"`
	// Shards are those that were trained again, ascending.
	Shards []lethe.ShardID `json:"shards,omitempty"`
}

// NewAck returns an acknowledgement to be filled in.
func NewAck(requestID, role, instance string, step Step) Ack {
	return Ack{Format: ackFormat, RequestID: requestID, Role: role, Instance: instance, Step: step}
}

// Key is the acknowledgement's key in the topic: a later one of the same
// process and step supersedes it.
func (a *Ack) Key() string {
	return fmt.Sprintf("ack/%s/%s/%s/%s", a.RequestID, a.Role, a.Instance, a.Step)
}

// Encode returns the acknowledgement as canonical JSON.
func (a *Ack) Encode() ([]byte, error) {
	if err := a.validate(); err != nil {
		return nil, fmt.Errorf("erasure acknowledgement: %w", err)
	}
	return record.Encode(a)
}

// DecodeAck reads what Encode wrote.
func DecodeAck(data []byte) (Ack, error) {
	var a Ack
	if err := record.Decode(data, ackFormat, &a); err != nil {
		return Ack{}, fmt.Errorf("erasure acknowledgement: %w", err)
	}
	if err := a.validate(); err != nil {
		return Ack{}, fmt.Errorf("erasure acknowledgement: %w: %w", ErrFormat, err)
	}
	return a, nil
}

func (a *Ack) validate() error {
	var out record.Problems
	steps := []Step{StepSuppressed, StepPurged, StepSwapped, StepScanned}
	out.Check(a.Format == ackFormat, "format is not %s", ackFormat)
	out.Check(ValidRequestID(a.RequestID), "request_id is not valid")
	// Both stand in a key, between slashes, and obey the same rule.
	out.Check(ValidRequestID(a.Role), "role is not valid")
	out.Check(ValidRequestID(a.Instance), "instance is not valid")
	out.Check(slices.Contains(steps, a.Step), "step is not known")
	out.Check(a.Attempt >= 0, "attempt is %d, at least 0", a.Attempt)
	out.Check(a.Step != StepScanned || a.Scan != nil, "a scan is acknowledged without its numbers")
	out.Check(record.Ascending(a.Shards, cmp.Compare), "shards are not ascending")
	return out.Err()
}
