package requests

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"lethe/ingest"
	"lethe/ingest/authority"
	"lethe/ingest/bus"
	"lethe/pipeline/wire"
)

// ErrUnsigned is returned where a deployment takes only what is signed, and nothing signs: nothing
// was written.
var ErrUnsigned = errors.New("this deployment takes only what is signed")

// ErrRefused is returned if lethe has refused what was signed. Its text says which statement
// fails.
var ErrRefused = errors.New("refused for its signature")

// answer is ErrRefused with the statement that fails.
type answer struct{ wire.Refused }

// Error implements error.
func (a *answer) Error() string { return fmt.Sprintf("%v: %s: %s", ErrRefused, a.Reason, a.Detail) }

// Unwrap makes it an ErrRefused.
func (*answer) Unwrap() error { return ErrRefused }

// Answer is the ErrRefused in an error, without where it was read, or nil.
func Answer(err error) error {
	if found := (*answer)(nil); errors.As(err, &found) {
		return found
	}
	return nil
}

// Signing are topics as somebody writes to them who signs what he says of requests. One goroutine
// uses it.
type Signing struct {
	Bus
	signer authority.Signer
	// written are the records written, by their signatures.
	written map[string]bool
	// said is what the deployment has said last of how many must sign.
	said wire.Settings
}

// SignedWith signs what is written to erasures.v1. Without keys it refuses to write what lethe
// would refuse, as far as lethe was heard to say that.
func SignedWith(topics Bus, signer authority.Signer) *Signing {
	return &Signing{topics, signer, make(map[string]bool), wire.Settings{}}
}

// Signers returns how many people must sign a request, as the deployment has said last: 0 if nobody must, or if it has
// said nothing yet.
func (s *Signing) Signers(ctx context.Context) (int, error) {
	if err := s.ReadAll(ctx, bus.ErasureStatus, func(ingest.Record) error { return nil }); err != nil {
		return 0, err
	}
	n, _ := strconv.Atoi(s.said.Values[wire.RequestsSigned])
	return n, nil
}

// Write implements Bus.
func (s *Signing) Write(ctx context.Context, t bus.Topic, records []ingest.Outgoing) error {
	if t != bus.Erasures {
		return s.Bus.Write(ctx, t, records)
	}
	if n, said := s.said.Values[wire.RequestsSigned]; said && n != "0" && len(s.signer.Keys) == 0 {
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
	return s.Bus.ReadAll(ctx, t, s.noting(t, fn))
}

// ReadNew implements Bus.
func (s *Signing) ReadNew(
	ctx context.Context, t bus.Topic, positions map[int]int64, fn func(ingest.Record) error,
) error {
	return s.Bus.ReadNew(ctx, t, positions, s.noting(t, fn))
}

// noting ends reading with ErrRefused at the answer to what was written.
func (s *Signing) noting(t bus.Topic, fn func(ingest.Record) error) func(ingest.Record) error {
	if t != bus.ErasureStatus {
		return fn
	}
	return func(rec ingest.Record) error {
		if refused, is := wire.ParseRefused(rec); is && s.written[refused.Signatures] {
			return &answer{refused}
		}
		if said, is, err := wire.ParseSettings(rec); is && err == nil && !said.Late(s.said) {
			if _, has := said.Values[wire.RequestsSigned]; has {
				s.said = said
			}
		}
		return fn(rec)
	}
}
