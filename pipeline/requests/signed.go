package requests

import (
	"context"
	"crypto/ed25519"
	"time"

	"lethe/deletions"
	"lethe/ingest"
	"lethe/ingest/bus"
	"lethe/pipeline/wire"
)

// Signed are topics as somebody reads them who believes statuses, holds and other answers only if the
// deployment has signed them. One goroutine uses it.
type Signed struct {
	Bus
	keys []ed25519.PublicKey
	// updated is when the newest signed status under each key was made: an older one that is
	// written once more does not set a request back.
	updated map[string]time.Time
	// held is when the newest signed hold under each key was said.
	held map[string]deletions.Position
	// unsigned are the keys of statuses and holds that were passed over.
	unsigned map[string]bool
}

// SignedBy passes over what requesters are told and none of the keys has signed.
func SignedBy(topics Bus, keys ...ed25519.PublicKey) *Signed {
	return &Signed{topics, keys, make(map[string]time.Time), make(map[string]deletions.Position), make(map[string]bool)}
}

// Unsigned counts the requests and holds of which something was passed over because no known key has
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
		key := string(rec.Key)
		switch {
		case wire.IsAnswer(rec):
			if !s.answers(rec) {
				return nil
			}
			return fn(rec)
		case !wire.IsStatus(rec):
			return fn(rec)
		}
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

// answers reports whether an answer that is no status is believed.
func (s *Signed) answers(rec ingest.Record) bool {
	signed, key := wire.SignedAnswer(rec, s.keys), string(rec.Key)
	if !deletions.IsHoldKey(key) {
		return signed
	}
	hold, err := deletions.DecodeHold(rec.Value)
	switch {
	case !signed || err != nil || hold.Key() != key:
		s.unsigned[key] = true
		return false
	case s.held[key].After(hold.Said):
		return false
	}
	s.held[key] = hold.Said
	return true
}
