package translog

import (
	"slices"
	"time"

	"lethe"
	"lethe/deletions"
	"lethe/deletions/internal/record"
)

// Kind says what a leaf is of.
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

// Leaf is a record of the log: a Request, Transition, Found, Operator, Receipt, Setup, Slice,
// Checkpoint or Access.
type Leaf interface {
	// Kind says which of them it is.
	Kind() Kind
	check(*record.Problems)
}

// Request says that a request was taken into the ledger.
type Request struct {
	// Digest is that of the request's content (deletions.RequestDigest), by which later
	// leaves name it.
	Digest lethe.Digest `json:"request_digest"`
	Scope  lethe.Scope  `json:"scope"`
	At     time.Time    `json:"at"`
	// Targets counts what is to be erased, each once.
	Targets int `json:"targets"`
	// Commitments are to the pseudonyms of the targets that have one, in the order of the
	// request (deletions.Commitment).
	Commitments []lethe.Digest `json:"commitments"`
	// Payments are to the payments among them, of who pays and who is paid
	// (deletions.PaymentCommitment).
	Payments []lethe.Digest `json:"payment_commitments,omitempty"`
	// Salts commits to their salts (deletions.SaltsDigest), so that they can be opened in
	// one way only. It is zero without commitments.
	Salts lethe.Digest `json:"salts_digest,omitzero"`
	// SignedBy are the thumbprints of the keys that the request came signed by, where the
	// deployment asks for that. Who signs later is named when it is accepted.
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

// Transition says that a request changed its state. That it was received is said by its
// Request.
type Transition struct {
	Request lethe.Digest          `json:"request_digest"`
	State   deletions.State       `json:"state"`
	Failure deletions.FailureCode `json:"failure,omitempty"`
	At      time.Time             `json:"at"`
	// SignedBy are the thumbprints of the keys that have signed a request which is accepted,
	// where the deployment asks for that.
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

// Receipt says that a receipt was signed.
type Receipt struct {
	Request lethe.Digest `json:"request_digest"`
	// Payload is the SHA-256 of the bytes that the receipt's signature is over.
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
