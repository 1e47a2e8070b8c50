package deletions

import (
	"slices"
	"time"

	"lethe/deletions/internal/record"
)

// Signatures are those of a request, where the deployment requires them.
type Signatures struct {
	// SignedBy are thumbprints of keys in the order of signing. The key file names their owners.
	SignedBy []string `json:"signed_by,omitempty"`
	// SignedUntil is when the first signature expires, zero for never. A request that still lacks one then is rejected.
	SignedUntil time.Time `json:"signed_until,omitzero"`
}

// NewSignatures makes the signatures of an entry.
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

// WithSignatures adds others' signatures.
func (s Signatures) WithSignatures(by []string, until time.Time) Signatures {
	if until.IsZero() || !s.SignedUntil.IsZero() && s.SignedUntil.Before(until) {
		until = s.SignedUntil
	}
	return NewSignatures(slices.Concat(s.SignedBy, by), until)
}

// Expired reports whether a signature has expired.
func (s Signatures) Expired(now time.Time) bool {
	return !s.SignedUntil.IsZero() && !now.Before(s.SignedUntil)
}

// Sign adds signatures to an open request.
func (l *Ledger) Sign(requestID string, by []string, until time.Time) (Entry, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	e, err := l.read(requestID)
	if err != nil {
		return e, err
	}
	e.Signatures = e.WithSignatures(by, until)
	return l.commit(e)
}
