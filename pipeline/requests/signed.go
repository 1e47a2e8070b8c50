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

// Signed reads topics and ignores statuses, holds and answers that the deployment has not signed. It is for one
// goroutine.
type Signed struct {
	Bus
	keys []ed25519.PublicKey
	// updated is the time of the newest signed status by key, to ignore older ones.
	updated map[string]time.Time
	// held is the position of the newest signed hold by key.
	held map[string]deletions.Position
	// unsigned are the keys ignored.
	unsigned map[string]bool
}

// SignedBy ignores what none of the keys has signed.
func SignedBy(topics Bus, keys ...ed25519.PublicKey) *Signed {
	return &Signed{topics, keys, make(map[string]time.Time), make(map[string]deletions.Position), make(map[string]bool)}
}

// Unsigned counts the requests and holds with ignored records.
func (s *Signed) Unsigned() int { return len(s.unsigned) }

// ReadAll implements Bus.
func (s *Signed) ReadAll(ctx context.Context, t bus.Topic, fn func(ingest.Record) error) error {
	return s.Bus.ReadAll(ctx, t, s.filter(fn))
}

// ReadNew implements Bus.
func (s *Signed) ReadNew(
	ctx context.Context, t bus.Topic, positions map[int]int64, fn func(ingest.Record) error,
) error {
	return s.Bus.ReadNew(ctx, t, positions, s.filter(fn))
}

func (s *Signed) filter(fn func(ingest.Record) error) func(ingest.Record) error {
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

// answers reports whether an answer other than a status counts.
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
