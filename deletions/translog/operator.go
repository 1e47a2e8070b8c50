package translog

import (
	"crypto/sha256"
	"time"

	"lethe"
	"lethe/deletions"
	"lethe/deletions/internal/record"
)

// Action is what an operator did.
type Action string

// The actions.
const (
	// ActionTakeOver: a data directory took a role over from another one.
	ActionTakeOver Action = "take-over"
	// ActionStrikeOff: a data directory that shared the work of a role was struck off.
	ActionStrikeOff Action = "strike-off"
	// ActionHold and ActionRelease: a legal hold was set, or lifted before its end.
	ActionHold    Action = "hold"
	ActionRelease Action = "release"
	// ActionCancel: a request was cancelled before anything was rewritten.
	ActionCancel Action = "cancel"
	// ActionRotateKey: receipts and checkpoints are signed by another key from here on.
	ActionRotateKey Action = "rotate-key"
	// ActionRotateSecret: pseudonyms are made with another secret from here on, and everything that
	// holds them was made anew. What requests of before commit to is named by pseudonyms of before.
	ActionRotateSecret Action = "rotate-secret"
	// ActionBackup: a backup was made. ActionRestore: one was put back. ActionForgetBackup: an
	// operator said that one is destroyed, and receipts do not name it any more.
	ActionBackup       Action = "backup"
	ActionRestore      Action = "restore"
	ActionForgetBackup Action = "forget-backup"
)

// Valid reports whether the action is one of these.
func (a Action) Valid() bool {
	switch a {
	case ActionTakeOver, ActionStrikeOff, ActionHold, ActionRelease, ActionCancel, ActionRotateKey, ActionRotateSecret,
		ActionBackup, ActionRestore, ActionForgetBackup:
		return true
	default:
		return false
	}
}

// Operator says what an operator did.
type Operator struct {
	Action Action    `json:"action"`
	At     time.Time `json:"at"`
	// Detail is a digest of what was done in full, keyed (lethe.Secret.Hash) where it could
	// be guessed: of a hold SHA-256 of its record in the ledger, of a take-over or a strike that
	// of role and instance, of a rotated secret that of what tells both apart. It is zero where the
	// rest says all.
	Detail lethe.Digest `json:"detail,omitzero"`
	// Request is the request that it concerns, zero for none.
	Request lethe.Digest `json:"request_digest,omitzero"`
	// Key is there if a key was rotated.
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

// TakeOver says that an operator declared the folders of a role's instance gone for good.
func TakeOver(role, instance string, at time.Time) Operator {
	return goneFolder(ActionTakeOver, role, instance, at)
}

// StrikeOff says that an operator struck an instance off those that share a role's work.
func StrikeOff(role, instance string, at time.Time) Operator {
	return goneFolder(ActionStrikeOff, role, instance, at)
}

// RotateSecret says that another secret makes pseudonyms from here on. The checks tell the two apart.
func RotateSecret(before, now string, at time.Time) Operator {
	detail := sha256.Sum256([]byte(before + "\n" + now + "\n"))
	return Operator{Action: ActionRotateSecret, At: record.Time(at), Detail: detail}
}

func goneFolder(action Action, role, instance string, at time.Time) Operator {
	detail := sha256.Sum256([]byte(role + "\n" + instance + "\n"))
	return Operator{Action: action, At: record.Time(at), Detail: detail}
}

// leavesOfHolds are the leaves of holds as they stand: that each was set, or lifted.
func leavesOfHolds(list []deletions.Hold) (out []Leaf) {
	for _, h := range list {
		out = append(out, leafOfHold(h))
	}
	return out
}

func leafOfHold(h deletions.Hold) Operator {
	leaf := Operator{Action: ActionHold, At: h.SetAt, Detail: h.Digest()}
	if !h.LiftedAt.IsZero() {
		leaf.Action, leaf.At = ActionRelease, record.Time(h.LiftedAt)
	}
	return leaf
}
