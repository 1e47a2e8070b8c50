package deletions

import (
	"slices"
	"time"

	"lethe/deletions/internal/record"
)

// Signatures say who has signed a request, where the deployment asks for that.
type Signatures struct {
	// SignedBy are the thumbprints of the keys, in the order in which they signed. Who holds
	// them stands in the deployment's file of keys.
	SignedBy []string `json:"signed_by,omitempty"`
	// SignedUntil is when the first of the signatures expires, zero for never: a request that
	// still waits for another one then is rejected.
	SignedUntil time.Time `json:"signed_until,omitzero"`
}

// NewSignatures returns what an entry keeps of signatures.
func NewSignatures(by []string, until time.Time) Signatures {
	s := Signatures{SignedUntil: record.Time(until)}
	if until.IsZero() {
		s.SignedUntil = time.Time{}
	}
	for _, id := range by {
		if !slices.Contains(s.SignedBy, id) {
			s.SignedBy = append(s.SignedBy, id)
		}
	}
	return s
}

// SignedToo returns the signatures with those of somebody else.
func (s Signatures) SignedToo(by []string, until time.Time) Signatures {
	if until.IsZero() || !s.SignedUntil.IsZero() && s.SignedUntil.Before(until) {
		until = s.SignedUntil
	}
	return NewSignatures(slices.Concat(s.SignedBy, by), until)
}

// Expired reports whether the signatures count no longer.
func (s Signatures) Expired(now time.Time) bool {
	return !s.SignedUntil.IsZero() && !now.Before(s.SignedUntil)
}

// Sign notes more signatures of an open request.
func (l *Ledger) Sign(requestID string, by []string, until time.Time) (Entry, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	e, err := l.read(requestID)
	if err != nil {
		return e, err
	}
	e.Signatures = e.SignedToo(by, until)
	return l.commit(e)
}
