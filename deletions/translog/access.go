package translog

import (
	"time"

	"lethe"
	"lethe/deletions/internal/record"
)

// Deed is what somebody did through the API.
type Deed string

// The deeds.
const (
	// DeedLook: the status or the receipt of a request was shown, or the list of them or of holds.
	DeedLook Deed = "look"
	// DeedPlan: it was shown what an erasure would come to, and of whom.
	DeedPlan Deed = "plan"
	// DeedSubmit and DeedCancel: a request was made, or taken back.
	DeedSubmit Deed = "submit"
	DeedCancel Deed = "cancel"
	// DeedHold and DeedLift: a hold was set, or lifted.
	DeedHold Deed = "hold"
	DeedLift Deed = "lift"
	// DeedLabel: it was said what a transaction was. DeedReplay: dead letters were sent again.
	DeedLabel  Deed = "label"
	DeedReplay Deed = "replay"
)

// Valid reports whether the deed is one of these.
func (d Deed) Valid() bool {
	switch d {
	case DeedLook, DeedPlan, DeedSubmit, DeedCancel, DeedHold, DeedLift, DeedLabel, DeedReplay:
		return true
	default:
		return false
	}
}

// Access says that somebody changed something through the API, or looked at what an erasure names.
// No transaction stands in it, not even as a hash: the log is never erased from.
type Access struct {
	Deed Deed      `json:"deed"`
	At   time.Time `json:"at"`
	// Actor is a keyed hash of who it was (ActorHash), zero where nobody is asked who he is.
	Actor lethe.Digest `json:"actor,omitzero"`
	// Request is a keyed hash of the request's or the hold's name (RequestHash), zero for none and for lists.
	Request lethe.Digest `json:"request,omitzero"`
	// Count is how many records were sent, targets named, or statuses listed.
	Count int `json:"count,omitempty"`
}

// Kind implements Leaf.
func (Access) Kind() Kind { return KindAccess }

func (a Access) check(p *record.Problems) {
	checkTime(p, a.At)
	p.Check(a.Deed.Valid(), "deed is not known")
	p.Check(a.Count >= 0, "count is negative")
}

// ActorHash is the keyed hash by which the log knows somebody: that of the name which the file of
// tokens has for him, or the issuer of his token. It outlives a rotation of the secret.
func ActorHash(secret lethe.Secret, name string) lethe.Digest {
	if name == "" {
		return lethe.Digest{}
	}
	return secret.Ledger().Hash("log-actor", []byte(name))
}

// RequestHash is the keyed hash by which accesses name a request.
func RequestHash(secret lethe.Secret, requestID string) lethe.Digest {
	if requestID == "" {
		return lethe.Digest{}
	}
	return secret.Ledger().Hash("log-request", []byte(requestID))
}
