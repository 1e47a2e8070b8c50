package backups

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"slices"
	"time"

	"lethe/deletions"
	"lethe/deletions/internal/record"
)

const (
	format = "lethe-backup-entry/1"
	prefix = "backup/"
)

// ErrUnknown means that the registry has no such backup.
var ErrUnknown = errors.New("no such backup is known")

// Backup is a copy of a data directory.
type Backup struct {
	Format string `json:"format"`
	ID     string `json:"backup_id"`
	// CreatedAt: data erased later may still be in it.
	CreatedAt time.Time `json:"created_at"`
	// ExpiresAt is when it is to be destroyed.
	ExpiresAt time.Time `json:"expires_at"`
	// ForgottenAt is when an operator declared it destroyed, or zero.
	ForgottenAt time.Time `json:"forgotten_at,omitzero"`
}

// New makes the entry of a new backup.
func New(id string, at time.Time, keep time.Duration) Backup {
	at = record.Time(at)
	return Backup{Format: format, ID: id, CreatedAt: at, ExpiresAt: record.Time(at.Add(keep))}
}

// Kept reports whether the backup counts as present.
func (b Backup) Kept(now time.Time) bool {
	return now.Before(b.ExpiresAt) && (b.ForgottenAt.IsZero() || now.Before(b.ForgottenAt))
}

// State is kept, expired or forgotten.
func (b Backup) State(now time.Time) string {
	switch {
	case b.Kept(now):
		return "kept"
	case b.ForgottenAt.IsZero() || b.ExpiresAt.Before(b.ForgottenAt):
		return "expired"
	default:
		return "forgotten"
	}
}

func (b Backup) validate() error {
	var out record.Problems
	out.Check(b.Format == format, "format is not %s", format)
	out.Check(deletions.ValidRequestID(b.ID), "backup_id is not 1..128 of A-Z a-z 0-9 . _ -")
	out.Check(!b.CreatedAt.IsZero(), "created_at is absent")
	out.Check(b.ExpiresAt.After(b.CreatedAt), "expires_at is not after created_at")
	return out.Err()
}

// Registry are the backups of a deployment, in the ledger's KV.
type Registry struct{ kv deletions.KV }

// In returns the registry in a store.
func In(kv deletions.KV) Registry { return Registry{kv} }

// List returns all in order of creation.
func (r Registry) List() (list []Backup, err error) {
	err = r.kv.Scan([]byte(prefix), func(key, value []byte) error {
		what := "backup " + string(bytes.TrimPrefix(key, []byte(prefix)))
		b, err := record.DecodeValid(what, format, value, (*Backup).validate)
		if err != nil {
			return err
		}
		list = append(list, b)
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("registry of backups: %w", err)
	}
	slices.SortFunc(list, func(a, b Backup) int {
		return cmp.Or(a.CreatedAt.Compare(b.CreatedAt), cmp.Compare(a.ID, b.ID))
	})
	return list, nil
}

// Put stores a backup durably.
func (r Registry) Put(b Backup) error {
	value, err := record.EncodeValid("backup", b, b.validate())
	if err != nil {
		return err
	}
	if err := r.kv.Put(deletions.Row{Key: []byte(prefix + b.ID), Value: value}); err != nil {
		return fmt.Errorf("backup %s: %w", b.ID, err)
	}
	return nil
}

// Forget records that a backup is destroyed. Errors: ErrUnknown.
func (r Registry) Forget(id string, at time.Time) (Backup, error) {
	list, err := r.List()
	if err != nil {
		return Backup{}, err
	}
	i := slices.IndexFunc(list, func(b Backup) bool { return b.ID == id })
	if i < 0 {
		return Backup{}, fmt.Errorf("%w: %s", ErrUnknown, id)
	}
	b := list[i]
	if b.ForgottenAt.IsZero() {
		b.ForgottenAt = record.Time(at)
	}
	return b, r.Put(b)
}

// Holding returns the backups made before a request was erased and kept when it was verified.
func (r Registry) Holding(e deletions.Entry) (list []Backup, err error) {
	all, err := r.List()
	erased := e.Updated()
	for _, c := range e.History {
		if c.State == deletions.Erased {
			erased = c.At
		}
	}
	for _, b := range all {
		if b.CreatedAt.Before(erased) && b.Kept(e.Updated()) {
			list = append(list, b)
		}
	}
	return list, err
}
