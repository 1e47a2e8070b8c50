package translog

import (
	"slices"
	"time"

	"lethe"
	"lethe/deletions/internal/record"
)

// Deed is an action through the API.
type Deed string

// The deeds.
const (
	// DeedLook: a status, receipt, or list of requests or holds was read.
	DeedLook Deed = "look"
	// DeedPlan: a plan of an erasure was read.
	DeedPlan Deed = "plan"
	// DeedSubmit, DeedCancel: a request was made, or cancelled.
	DeedSubmit Deed = "submit"
	DeedCancel Deed = "cancel"
	// DeedHold, DeedLift: a hold was set, or lifted.
	DeedHold Deed = "hold"
	DeedLift Deed = "lift"
	// DeedLabel: a label was given. DeedReplay: dead letters were replayed.
	DeedLabel  Deed = "label"
	DeedReplay Deed = "replay"
)

// Valid reports whether the deed is known.
func (d Deed) Valid() bool {
	return slices.Contains([]Deed{
		DeedLook, DeedPlan, DeedSubmit, DeedCancel, DeedHold, DeedLift, DeedLabel, DeedReplay,
	}, d)
}

// Access is a change through the API, or a look at an erasure. It names no transaction, not even by hash: the log is
// never erased from.
type Access struct {
	Deed Deed      `json:"deed"`
	At   time.Time `json:"at"`
	// Actor is ActorHash, zero without authentication.
	Actor lethe.Digest `json:"actor,omitzero"`
	// Request is RequestHash of a request or hold, zero for none.
	Request lethe.Digest `json:"request,omitzero"`
	// Count is the number of records, targets or statuses.
	Count int `json:"count,omitempty"`
}

// Kind implements Leaf.
func (Access) Kind() Kind { return KindAccess }

func (a Access) check(p *record.Problems) {
	checkTime(p, a.At)
	p.Check(a.Deed.Valid(), "deed is not known")
	p.Check(a.Count >= 0, "count is negative")
}

// ActorHash is a keyed hash of a name in the token file or a token's issuer. It survives a rotation of the secret.
func ActorHash(secret lethe.Secret, name string) lethe.Digest {
	if name == "" {
		return lethe.Digest{}
	}
	return secret.Ledger().Hash("log-actor", []byte(name))
}

// RequestHash is the keyed hash of a request in accesses.
func RequestHash(secret lethe.Secret, requestID string) lethe.Digest {
	if requestID == "" {
		return lethe.Digest{}
	}
	return secret.Ledger().Hash("log-request", []byte(requestID))
}
