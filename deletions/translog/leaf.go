package translog

import (
	"slices"
	"time"

	"lethe"
	"lethe/deletions"
	"lethe/deletions/internal/record"
)

// Kind is the kind of a leaf.
type Kind string

// The kinds.
const (
	KindRequest    Kind = "request"
	KindTransition Kind = "transition"
	KindFound      Kind = "found"
	KindOperator   Kind = "operator"
	KindReceipt    Kind = "receipt"
	KindSetup      Kind = "setup"
	KindSlice      Kind = "slice"
	KindCheckpoint Kind = "checkpoint"
	KindAccess     Kind = "access"
)

// Leaf is a Request, Transition, Found, Operator, Receipt, Setup, Slice, Checkpoint or Access.
type Leaf interface {
	Kind() Kind
	check(*record.Problems)
}

// Request is a request that was stored in the ledger.
type Request struct {
	// Digest is deletions.RequestDigest, by which other leaves refer to it.
	Digest lethe.Digest `json:"request_digest"`
	Scope  lethe.Scope  `json:"scope"`
	At     time.Time    `json:"at"`
	// Targets counts distinct targets.
	Targets int `json:"targets"`
	// Commitments are to targets with a pseudonym, in request order (deletions.Commitment).
	Commitments []lethe.Digest `json:"commitments"`
	// Payments are to payments (deletions.PaymentCommitment).
	Payments []lethe.Digest `json:"payment_commitments,omitempty"`
	// Salts commits to the salts (deletions.SaltsDigest); zero without commitments.
	Salts lethe.Digest `json:"salts_digest,omitzero"`
	// SignedBy are the thumbprints of the keys that signed at receipt. Later ones are in the transition to accepted.
	SignedBy []string `json:"signed_by,omitempty"`
}

// Kind implements Leaf.
func (Request) Kind() Kind { return KindRequest }

// Count is the number of commitments, and of salts.
func (r Request) Count() int { return len(r.Commitments) + len(r.Payments) }

func (r Request) check(p *record.Problems) {
	checkRequest(p, r.Digest)
	checkTime(p, r.At)
	p.Check(r.Scope.Valid(), "scope is not known")
	p.Check(r.Targets > 0, "targets is %d, at least 1", r.Targets)
	p.Check(r.Commitments != nil, "commitments is no list")
	p.Check((r.Count() > 0) == !r.Salts.IsZero(), "salts_digest does not fit the commitments")
	for i, c := range slices.Concat(r.Commitments, r.Payments) {
		p.Check(!c.IsZero(), "commitment %d is zero", i)
	}
}

// Transition is a change of a request's state. The state received is its Request.
type Transition struct {
	Request lethe.Digest          `json:"request_digest"`
	State   deletions.State       `json:"state"`
	Failure deletions.FailureCode `json:"failure,omitempty"`
	At      time.Time             `json:"at"`
	// SignedBy are the thumbprints of the signing keys, if accepted.
	SignedBy []string `json:"signed_by,omitempty"`
}

// Kind implements Leaf.
func (Transition) Kind() Kind { return KindTransition }

func (t Transition) check(p *record.Problems) {
	checkRequest(p, t.Request)
	checkTime(p, t.At)
	p.Check(t.State.Valid() && t.State != deletions.Received, "state is not known, or none that is moved to")
	p.Check(t.Failure.Fits(t.State), "failure code does not fit the state")
}

// Receipt is a signed receipt.
type Receipt struct {
	Request lethe.Digest `json:"request_digest"`
	// Payload is SHA-256 of the signed bytes.
	Payload lethe.Digest `json:"payload_digest"`
}

// Kind implements Leaf.
func (Receipt) Kind() Kind { return KindReceipt }

func (r Receipt) check(p *record.Problems) {
	checkRequest(p, r.Request)
	p.Check(!r.Payload.IsZero(), "payload_digest is zero")
}

func checkRequest(p *record.Problems, request lethe.Digest) {
	p.Check(!request.IsZero(), "request_digest is zero")
}

func checkTime(p *record.Problems, at time.Time) {
	utc := at.Location() == time.UTC && at.Equal(record.Time(at))
	p.Check(!at.IsZero() && utc, "at is not a time in UTC and milliseconds")
}

// Found commits to the result of a request's plan, before anything is rewritten.
type Found struct {
	Request lethe.Digest `json:"request_digest"`
	deletions.Found
}

// Kind implements Leaf.
func (Found) Kind() Kind { return KindFound }

func (f Found) check(p *record.Problems) {
	checkRequest(p, f.Request)
	p.Check(!f.Salt.IsZero(), "salt_digest is zero")
	p.Check(len(f.All())+f.LeftOut > 0, "nothing is committed to")
	p.Check(f.LeftOut >= 0, "left_out is negative")
	for i, c := range f.All() {
		p.Check(!c.IsZero(), "commitment %d is zero", i)
	}
}

func leafOfFound(e deletions.Entry, known map[lethe.Digest]bool) []Leaf {
	if e.Progress.Found == nil || known[e.Digest] {
		return nil
	}
	return []Leaf{Found{e.Digest, *e.Progress.Found}}
}

// Slice commits to a published slice.
type Slice struct {
	Timestep lethe.Timestep `json:"timestep"`
	Shard    lethe.ShardID  `json:"shard"`
	Revision lethe.Revision `json:"revision"`
	// Digest is that of the canonical bytes, zero if the timestep became empty.
	Digest lethe.Digest `json:"digest,omitzero"`
	// Replaces is the previous digest of this shard and timestep, zero for the first.
	Replaces lethe.Digest `json:"replaces,omitzero"`
}

// Kind implements Leaf.
func (Slice) Kind() Kind { return KindSlice }

func (s Slice) check(p *record.Problems) {
	p.Check(s.Timestep >= 0, "timestep is negative")
	p.Check(s.Revision > 0, "revision is 0, at least 1")
	p.Check(!s.Digest.IsZero() || !s.Replaces.IsZero(), "digest and replaces are both zero")
}

// Checkpoint commits to a published model. The log's own checkpoints are SignedTrees.
type Checkpoint struct {
	// Component is the model's index in the configuration, Group that in the component. The meta-model comes last, with
	// group 0.
	Component int            `json:"component"`
	Group     int            `json:"group"`
	Timestep  lethe.Timestep `json:"timestep"`
	// Lineage is the chain of slice digests trained on.
	Lineage lethe.Digest `json:"lineage"`
	Digest  lethe.Digest `json:"digest"`
	// Replaces is the previous digest of this group and timestep, zero for the first.
	Replaces lethe.Digest `json:"replaces,omitzero"`
}

// Kind implements Leaf.
func (Checkpoint) Kind() Kind { return KindCheckpoint }

func (c Checkpoint) check(p *record.Problems) {
	p.Check(min(c.Component, c.Group) >= 0, "component or group is negative")
	p.Check(c.Timestep >= 0, "timestep is negative")
	p.Check(!c.Digest.IsZero(), "digest is zero")
}

// Setup commits to the training setup: configurations, seed, groups, kernel set (ensemble.Setup).
type Setup struct {
	Digest lethe.Digest `json:"digest"`
	// Replaces is the previous digest, zero for the first.
	Replaces lethe.Digest `json:"replaces,omitzero"`
}

// Kind implements Leaf.
func (Setup) Kind() Kind { return KindSetup }

func (s Setup) check(p *record.Problems) { p.Check(!s.Digest.IsZero(), "digest is zero") }
