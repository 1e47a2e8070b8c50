package deletions

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"fmt"
	"slices"
	"strings"
	"time"

	"lethe"
	"lethe/deletions/internal/record"
)

const (
	holdFormat    = "lethe-hold/1"
	holdPrefix    = "hold/"
	holdKeyPrefix = "!hold/"
)

// Hold protects transactions and carriers of subjects from erasure until it ends or is lifted. It has keyed hashes
// only, and is published on erasure-status.v1 as stored.
type Hold struct {
	Format string `json:"format"`
	Name   string `json:"hold_id"`
	// Targets are keyed hashes (lethe.Secret.Suppressed), ascending.
	Targets []lethe.Digest `json:"nodes"`
	// Subjects are keyed hashes (lethe.Secret.HeldSubject) of the subjects among the targets, ascending: carriers are
	// matched by them.
	Subjects []lethe.Digest `json:"subjects,omitempty"`
	// Reason is the keyed hash of the reason's text.
	Reason lethe.Digest `json:"reason"`
	SetAt  time.Time    `json:"set_at"`
	// Until is zero for a hold without an end.
	Until    time.Time `json:"until,omitzero"`
	LiftedAt time.Time `json:"lifted_at,omitzero"`
	// TooLate counts targets already erased, or being erased, when the hold was set.
	TooLate int `json:"too_late,omitempty"`
	// LastChange is the position of the record that changed it last. Earlier records are ignored.
	LastChange Position `json:"said"`
}

// Position orders records of erasures.v1 by time, then offset.
type Position struct {
	At     time.Time `json:"at"`
	Offset int64     `json:"offset"`
}

// After reports whether a record is behind another.
func (p Position) After(q Position) bool {
	return cmp.Or(p.At.Compare(q.At), cmp.Compare(p.Offset, q.Offset)) > 0
}

// NewHold makes a hold. Errors: ErrRequest, ErrNamesTarget.
func NewHold(
	secret lethe.Secret, name, reason string, targets []lethe.Target, until time.Time, at Position,
) (Hold, error) {
	at.At = record.Time(at.At)
	h := Hold{
		Format: holdFormat, Name: name, Reason: secret.Ledger().Hash("hold-reason", []byte(reason)),
		SetAt: at.At, LastChange: at,
	}
	if !until.IsZero() {
		h.Until = record.Time(until)
	}
	for _, t := range targets {
		h.Targets = append(h.Targets, secret.Suppressed(t))
		if t.Kind == lethe.SubjectTarget {
			h.Subjects = append(h.Subjects, secret.HeldSubject(secret.SubjectPseudonym(t.Subject)))
		}
	}
	for _, list := range []*[]lethe.Digest{&h.Targets, &h.Subjects} {
		slices.SortFunc(*list, record.CompareDigests)
		*list = slices.Compact(*list)
	}
	if NamesTarget(lethe.ErasureRequest{RequestID: name, Targets: targets}) {
		return h, ErrNamesTarget
	}
	if err := h.validate(); err != nil {
		return h, fmt.Errorf("%w: %w", ErrRequest, err)
	}
	return h, nil
}

// InForce reports whether the hold applies at a time.
func (h *Hold) InForce(now time.Time) bool {
	return h.LiftedAt.IsZero() && (h.Until.IsZero() || now.Before(h.Until))
}

// Kept are the hashes protected by holds in force.
type Kept struct {
	// Targets are keyed hashes as in Hold.Targets, Subjects as in Hold.Subjects.
	Targets, Subjects map[lethe.Digest]bool
}

// KeptBy returns the hashes protected by the holds that are in force.
func KeptBy(now time.Time, list ...Hold) Kept {
	k := Kept{make(map[lethe.Digest]bool), make(map[lethe.Digest]bool)}
	for _, hold := range list {
		if !hold.InForce(now) {
			continue
		}
		for _, target := range hold.Targets {
			k.Targets[target] = true
		}
		for _, subject := range hold.Subjects {
			k.Subjects[subject] = true
		}
	}
	return k
}

// State is in_force, ended or lifted.
func (h *Hold) State(now time.Time) string {
	switch {
	case h.InForce(now):
		return "in_force"
	case h.LiftedAt.IsZero():
		return "ended"
	default:
		return "lifted"
	}
}

// Key is the hold's key on erasure-status.v1.
func (h *Hold) Key() string { return holdKeyPrefix + h.Name }

// IsHoldKey reports whether a key of erasure-status.v1 is of a hold.
func IsHoldKey(key string) bool { return strings.HasPrefix(key, holdKeyPrefix) }

// Encode returns the hold as canonical JSON.
func (h *Hold) Encode() ([]byte, error) {
	return record.EncodeValid("hold", h, h.validate())
}

// Digest is SHA-256 of the encoded hold, zero if it is not valid.
func (h *Hold) Digest() lethe.Digest {
	value, err := h.Encode()
	if err != nil {
		return lethe.Digest{}
	}
	return sha256.Sum256(value)
}

// DecodeHold decodes and validates a hold.
func DecodeHold(data []byte) (Hold, error) {
	return record.DecodeValid("hold", holdFormat, data, (*Hold).validate)
}

func (h *Hold) validate() error {
	var out record.Problems
	out.Check(h.Format == holdFormat, "format is not %s", holdFormat)
	out.Check(record.Ascending(h.Subjects, record.CompareDigests), "subjects are not ascending")
	out.Check(ValidRequestID(h.Name), "hold_id is not 1..%d of A-Z a-z 0-9 . _ -", maxRequestIDBytes)
	out.Check(len(h.Targets) > 0, "no nodes")
	out.Check(record.Ascending(h.Targets, record.CompareDigests), "nodes are not ascending")
	out.Check(!h.SetAt.IsZero(), "set_at is absent")
	out.Check(h.TooLate >= 0 && h.TooLate <= len(h.Targets), "too_late is not of 0..%d", len(h.Targets))
	return out.Err()
}

// Holds returns every hold, by name.
func (l *Ledger) Holds() ([]Hold, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.holds == nil {
		l.holds = []Hold{}
		err := l.kv.Scan([]byte(holdPrefix), func(key, value []byte) error {
			h, err := DecodeHold(value)
			if err != nil {
				return fmt.Errorf("hold %s: %w", bytes.TrimPrefix(key, []byte(holdPrefix)), err)
			}
			l.holds = append(l.holds, h)
			return nil
		})
		if err != nil {
			l.holds = nil
			return nil, fmt.Errorf("ledger: %w", err)
		}
	}
	return slices.Clone(l.holds), nil
}

// PutHold stores a hold durably under its name.
func (l *Ledger) PutHold(h Hold) error {
	value, err := h.Encode()
	if err != nil {
		return err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.holds = nil // read again, whether this fails or not
	rows := []Row{{Key: []byte(holdPrefix + h.Name), Value: value}}
	if err := l.put(Changes{Holds: []Hold{h}}, rows); err != nil {
		return fmt.Errorf("ledger: hold %s: %w", h.Name, err)
	}
	return nil
}
