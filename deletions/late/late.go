// Package late asks for the erasure of what an erased subject is carried by when that comes after the
// subject was suppressed. Such a record is dropped as it comes, but other records may name what
// it brings: labels and payments, corrections that carry no subject. So what it brings is asked for by
// its own id, by requests of lethe's own that go the way of every other.
package late

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"lethe"
	"lethe/deletions"
	"lethe/deletions/internal/record"
	"lethe/ingest"
	"lethe/ingest/bus"
)

// Reason is what the requests give as theirs.
const Reason = "came late"

// infix joins the id of the request for the subject with what tells its late ones apart.
const infix = ".late-"

// A suffix is so many bytes of a hash, each as two of these letters.
const (
	suffixBytes   = 16
	suffixLetters = "abcdefghijklmnop"
)

// maxRequestIDBytes is how long an id may be.
const maxRequestIDBytes = 128

// Carrier is what a record brought that was dropped on account of a subject.
type Carrier struct {
	Target   lethe.Target
	At       lethe.Timestep
	Subjects []string
}

// CarrierOf is what a record brings that may carry subjects.
func CarrierOf(event ingest.Event) Carrier {
	switch e := event.(type) {
	case ingest.Transaction:
		return Carrier{Target: lethe.Transactions(e.ID)[0], At: e.Timestep, Subjects: e.Subjects}
	case ingest.Payment:
		return Carrier{Target: lethe.PaymentBetween(e.Source, e.Target), At: e.Timestep, Subjects: e.Subjects}
	default:
		return Carrier{}
	}
}

// Writer is how requests are published.
type Writer interface {
	Write(ctx context.Context, t bus.Topic, records []ingest.Outgoing) error
}

// Requests asks for what comes late.
type Requests struct {
	Secret lethe.Secret
	Ledger *deletions.Ledger
	// Most bounds the targets of a request.
	Most int
	Out  Writer
	Now  func() time.Time
}

// Ask publishes requests for what some records brought: one for each request for a subject, up to one that is not taken
// back any more, at its scope, and another one for what holds name, so that nothing else waits for these. Called again
// for the same records it publishes the same, as long as these requests are what they were.
func (r Requests) Ask(ctx context.Context, list []Carrier) error {
	if len(list) == 0 {
		return nil
	}
	known, err := r.Ledger.List()
	if err != nil {
		return err
	}
	targets := make(map[string][]lethe.Target)
	for _, c := range list {
		for _, e := range known {
			if !erases(r.Secret, e, c) {
				continue
			}
			targets[e.RequestID] = append(targets[e.RequestID], c.Target)
			if !e.State.Cancellable() {
				break // else what is asked for is taken back with it
			}
		}
	}
	holds, err := r.Ledger.Holds()
	if err != nil {
		return err
	}
	held := deletions.KeptBy(r.Now(), holds...).Targets
	var records []ingest.Outgoing
	for _, e := range known {
		var free, kept []lethe.Target
		for _, t := range lethe.Distinct(targets[e.RequestID]) {
			if held[r.Secret.Suppressed(t)] {
				kept = append(kept, t)
			} else {
				free = append(free, t)
			}
		}
		for _, list := range [][]lethe.Target{free, kept} {
			for part := range slices.Chunk(list, r.Most) {
				record, err := r.record(e, part)
				if err != nil {
					return err
				}
				records = append(records, record)
			}
		}
	}
	if len(records) == 0 {
		return nil
	}
	return r.Out.Write(ctx, bus.Erasures, records)
}

// record is that of a request for what came late. It has another id than one that was taken back,
// as it is when a backup is put back while it waits: what came then comes once more.
func (r Requests) record(of deletions.Entry, targets []lethe.Target) (ingest.Outgoing, error) {
	for times := 0; ; times++ {
		asked := request(r.Secret, of, targets, times)
		before, err := r.Ledger.Get(asked.RequestID)
		if err == nil && before.State == deletions.Cancelled {
			continue
		}
		if err != nil && !errors.Is(err, deletions.ErrUnknownRequest) {
			return ingest.Outgoing{}, err
		}
		key, value, err := ingest.EncodeErasure(asked, time.Time{})
		return ingest.Own(r.Secret, ingest.Outgoing{Key: key, Value: value}), err
	}
}

// erases reports whether a request erases a subject at the timestep of what carries it.
func erases(secret lethe.Secret, e deletions.Entry, c Carrier) bool {
	return e.Suppresses() && slices.ContainsFunc(c.Subjects, func(subject string) bool {
		hash := secret.SuppressedSubject(subject)
		return slices.ContainsFunc(e.Subjects, func(s lethe.SubjectUntil) bool {
			return s.Target == hash && c.At <= s.Until
		})
	})
}

// request asks for what came late of the subjects of another. It has the id of that in its own,
// unless this held the id of a target then, or was too long. Times says how often the same was
// asked for before.
func request(secret lethe.Secret, of deletions.Entry, targets []lethe.Target, times int) lethe.ErasureRequest {
	hashes := make([]lethe.Digest, len(targets))
	for i, t := range targets {
		hashes[i] = secret.Suppressed(t)
	}
	r := lethe.ErasureRequest{Scope: of.Scope, Targets: targets, Reason: Reason}
	short := suffix(secret, of, hashes, times)
	r.RequestID = of.RequestID + infix + short
	if len(r.RequestID) > maxRequestIDBytes || deletions.NamesTarget(r) {
		r.RequestID = short
	}
	return r
}

// suffix follows from a request for subjects and what came late of them: so many letters that it
// holds no id by chance.
func suffix(secret lethe.Secret, of deletions.Entry, targets []lethe.Digest, times int) string {
	content := slices.Clone(of.Digest[:])
	for _, t := range slices.SortedFunc(slices.Values(targets), record.CompareDigests) {
		content = append(content, t[:]...)
	}
	content = append(content, bytes.Repeat([]byte{1}, times)...)
	hash := secret.Ledger().Hash("late-request", content)
	var out strings.Builder
	for _, b := range hash[:suffixBytes] {
		out.WriteByte(suffixLetters[b>>4])
		out.WriteByte(suffixLetters[b&15])
	}
	return out.String()
}

// Of returns the request for a subject, whose late records another request asks for, if that is
// one of lethe's own.
func Of(secret lethe.Secret, ledger *deletions.Ledger, e deletions.Entry) (of deletions.Entry, is bool, err error) {
	if at := strings.LastIndex(e.RequestID, infix); at >= 0 {
		of, err = ledger.Get(e.RequestID[:at])
		if errors.Is(err, deletions.ErrUnknownRequest) {
			return of, false, nil
		}
		if err == nil {
			is, err = asks(secret, ledger, of, e, e.RequestID[:at]+infix)
		}
		return of, is, err
	}
	if len(e.RequestID) != 2*suffixBytes || strings.Trim(e.RequestID, suffixLetters) != "" {
		return of, false, nil
	}
	// It has not the id of the other one in its own.
	list, err := ledger.Where(func(e *deletions.Entry) bool { return len(e.Subjects) > 0 })
	for i := 0; i < len(list) && err == nil && !is; i++ {
		of = list[i]
		is, err = asks(secret, ledger, of, e, "")
	}
	return of, is, err
}

// asks reports whether a request asks for what came late of the subjects of another one. What its id begins with is
// given.
func asks(
	secret lethe.Secret, ledger *deletions.Ledger, of, e deletions.Entry, prefix string,
) (is bool, err error) {
	for times := 0; ; times++ {
		id := prefix + suffix(secret, of, e.Targets, times)
		if e.RequestID == id {
			return true, nil
		}
		if _, err := ledger.Get(id); errors.Is(err, deletions.ErrUnknownRequest) {
			return false, nil // asked for no more often
		} else if err != nil {
			return false, err
		}
	}
}
