package requests

import (
	"context"
	"crypto/ed25519"
	"time"

	"lethe/ingest"
	"lethe/ingest/bus"
	"lethe/pipeline/wire"
)

// Signed are topics as somebody reads them who believes statuses only if the deployment has
// signed them. One goroutine uses it.
type Signed struct {
	Bus
	keys []ed25519.PublicKey
	// updated is when the newest signed status under each key was made: an older one that is
	// written once more does not set a request back.
	updated map[string]time.Time
	// unsigned are the keys of statuses that were passed over.
	unsigned map[string]bool
}

// SignedBy passes over the statuses that none of the keys has signed.
func SignedBy(topics Bus, keys ...ed25519.PublicKey) *Signed {
	return &Signed{topics, keys, make(map[string]time.Time), make(map[string]bool)}
}

// Unsigned counts the requests of which a status was passed over because no known key has
// signed it: it is forged, or of a version that signed none.
func (s *Signed) Unsigned() int { return len(s.unsigned) }

// ReadAll implements Bus.
func (s *Signed) ReadAll(ctx context.Context, t bus.Topic, fn func(ingest.Record) error) error {
	return s.Bus.ReadAll(ctx, t, s.only(fn))
}

// ReadNew implements Bus.
func (s *Signed) ReadNew(
	ctx context.Context, t bus.Topic, positions map[int]int64, fn func(ingest.Record) error,
) error {
	return s.Bus.ReadNew(ctx, t, positions, s.only(fn))
}

func (s *Signed) only(fn func(ingest.Record) error) func(ingest.Record) error {
	return func(rec ingest.Record) error {
		if !wire.IsStatus(rec) {
			return fn(rec)
		}
		key := string(rec.Key)
		status, signed := wire.SignedStatus(rec, s.keys)
		switch {
		case !signed:
			s.unsigned[key] = true
			return nil
		case status.UpdatedAt.Before(s.updated[key]):
			return nil
		}
		s.updated[key] = status.UpdatedAt
		return fn(rec)
	}
}
