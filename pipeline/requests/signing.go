package requests

import (
	"context"
	"crypto/ed25519"
	"errors"
	"fmt"
	"strconv"
	"time"

	"lethe/deletions"
	"lethe/ingest"
	"lethe/ingest/authority"
	"lethe/ingest/bus"
	"lethe/pipeline/wire"
)

// ErrUnsigned means that the deployment requires signatures and there is no key. Nothing was written.
var ErrUnsigned = errors.New("this deployment takes only what is signed")

// ErrRefused means that lethe refused the signature, for the reason in the text.
var ErrRefused = errors.New("refused for its signature")

type answer struct{ wire.Refused }

// Error implements error.
func (a *answer) Error() string { return fmt.Sprintf("%v: %s: %s", ErrRefused, a.Reason, a.Detail) }

// Unwrap makes it an ErrRefused.
func (*answer) Unwrap() error { return ErrRefused }

// Answer is the ErrRefused in an error without context, or nil.
func Answer(err error) error {
	if found := (*answer)(nil); errors.As(err, &found) {
		return found
	}
	return nil
}

// Signing signs records of erasures.v1. It is for one goroutine.
type Signing struct {
	Bus
	signer authority.Signer
	// written are the signatures of the records written.
	written map[string]bool
	// settings are the deployment's latest settings for signatures.
	settings wire.Settings
}

// SignedWith signs with a signer. Without keys, it refuses to write if signatures are known to be required.
func SignedWith(topics Bus, signer authority.Signer) *Signing {
	return &Signing{topics, signer, make(map[string]bool), wire.Settings{}}
}

// Signers returns how many people must sign a request, as far as published.
func (s *Signing) Signers(ctx context.Context) (int, error) {
	if err := s.ReadAll(ctx, bus.ErasureStatus, func(ingest.Record) error { return nil }); err != nil {
		return 0, err
	}
	n, _ := strconv.Atoi(s.settings.Values[wire.RequestsSigned])
	return n, nil
}

// Write implements Bus.
func (s *Signing) Write(ctx context.Context, t bus.Topic, records []ingest.Outgoing) error {
	if t != bus.Erasures {
		return s.Bus.Write(ctx, t, records)
	}
	if n, is := s.settings.Values[wire.RequestsSigned]; is && n != "0" && len(s.signer.Keys) == 0 {
		return ErrUnsigned
	}
	signed := make([]ingest.Outgoing, len(records))
	for i, rec := range records {
		var err error
		if signed[i], err = s.signer.Sign(rec); err != nil {
			return err
		}
		s.written[wire.SignaturesDigest(signed[i].Headers)] = true
	}
	delete(s.written, "")
	return s.Bus.Write(ctx, t, signed)
}

// ReadAll implements Bus.
func (s *Signing) ReadAll(ctx context.Context, t bus.Topic, fn func(ingest.Record) error) error {
	return s.Bus.ReadAll(ctx, t, s.watchAnswers(t, fn))
}

// ReadNew implements Bus.
func (s *Signing) ReadNew(
	ctx context.Context, t bus.Topic, positions map[int]int64, fn func(ingest.Record) error,
) error {
	return s.Bus.ReadNew(ctx, t, positions, s.watchAnswers(t, fn))
}

// watchAnswers ends reading with ErrRefused when a record that this process wrote is rejected.
func (s *Signing) watchAnswers(t bus.Topic, fn func(ingest.Record) error) func(ingest.Record) error {
	if t != bus.ErasureStatus {
		return fn
	}
	return func(rec ingest.Record) error {
		if refused, is := wire.ParseRefused(rec); is && s.written[refused.Signatures] {
			return &answer{refused}
		}
		if settings, is, err := wire.ParseSettings(rec); is && err == nil && !settings.Late(s.settings) {
			if _, has := settings.Values[wire.RequestsSigned]; has {
				s.settings = settings
			}
		}
		return fn(rec)
	}
}

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

// SignedBy ignores records that none of the keys has signed.
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
	case s.held[key].After(hold.LastChange):
		return false
	}
	s.held[key] = hold.LastChange
	return true
}
