package translog

import (
	"crypto/sha256"
	"slices"
	"time"

	"lethe"
	"lethe/deletions"
	"lethe/deletions/internal/record"
)

// Action is an operator's action.
type Action string

// The actions.
const (
	// ActionTakeOver: a data directory replaced another one for a role.
	ActionTakeOver Action = "take-over"
	// ActionStrikeOff: a data directory that shared a role was struck off.
	ActionStrikeOff Action = "strike-off"
	// ActionHold, ActionRelease: a hold was set, or lifted before its end.
	ActionHold    Action = "hold"
	ActionRelease Action = "release"
	// ActionCancel: a request was cancelled before anything was rewritten.
	ActionCancel Action = "cancel"
	// ActionRotateKey: another key signs from here on.
	ActionRotateKey Action = "rotate-key"
	// ActionRotateSecret: another secret makes pseudonyms from here on, and everything with pseudonyms was rebuilt.
	// Earlier commitments are to the old ones.
	ActionRotateSecret Action = "rotate-secret"
	// ActionBackup, ActionRestore: a backup was made, or restored. ActionForgetBackup: one was destroyed, and receipts
	// no longer name it.
	ActionBackup       Action = "backup"
	ActionRestore      Action = "restore"
	ActionForgetBackup Action = "forget-backup"
)

// Valid reports whether the action is known.
func (a Action) Valid() bool {
	return slices.Contains([]Action{
		ActionTakeOver, ActionStrikeOff, ActionHold, ActionRelease, ActionCancel, ActionRotateKey, ActionRotateSecret,
		ActionBackup, ActionRestore, ActionForgetBackup,
	}, a)
}

// Operator is an operator's action.
type Operator struct {
	Action Action    `json:"action"`
	At     time.Time `json:"at"`
	// Detail is a digest of the details, keyed (lethe.Secret.Hash) if guessable: SHA-256 of a hold's record, of role
	// and instance, of the checks of two secrets. Zero without.
	Detail lethe.Digest `json:"detail,omitzero"`
	// Request is the request concerned, or zero.
	Request lethe.Digest `json:"request_digest,omitzero"`
	// Key is set for a rotated key.
	Key *Introduction `json:"key,omitempty"`
}

// Kind implements Leaf.
func (Operator) Kind() Kind { return KindOperator }

func (o Operator) check(p *record.Problems) {
	checkTime(p, o.At)
	p.Check(o.Action.Valid(), "action is not known")
	p.Check((o.Key != nil) == (o.Action == ActionRotateKey), "key does not fit the action")
	if o.Key != nil {
		o.Key.check(p)
	}
}

// TakeOver declares the folders of a role's instance lost.
func TakeOver(role, instance string, at time.Time) Operator {
	return goneFolder(ActionTakeOver, role, instance, at)
}

// StrikeOff strikes an instance off a role.
func StrikeOff(role, instance string, at time.Time) Operator {
	return goneFolder(ActionStrikeOff, role, instance, at)
}

// RotateSecret is a change of the secret for pseudonyms. The checks identify the secrets.
func RotateSecret(before, now string, at time.Time) Operator {
	detail := sha256.Sum256([]byte(before + "\n" + now + "\n"))
	return Operator{Action: ActionRotateSecret, At: record.Time(at), Detail: detail}
}

func goneFolder(action Action, role, instance string, at time.Time) Operator {
	detail := sha256.Sum256([]byte(role + "\n" + instance + "\n"))
	return Operator{Action: action, At: record.Time(at), Detail: detail}
}

// leafOfHold is the leaf of a hold as stored.
func leafOfHold(h deletions.Hold) Operator {
	leaf := Operator{Action: ActionHold, At: h.SetAt, Detail: h.Digest()}
	if !h.LiftedAt.IsZero() {
		leaf.Action, leaf.At = ActionRelease, record.Time(h.LiftedAt)
	}
	return leaf
}

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
