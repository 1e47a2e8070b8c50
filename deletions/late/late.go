// Package late requests the erasure of records that carry an erased subject and arrive after it was suppressed. The
// record is dropped, but other records may name its transaction without the subject: labels, payments, corrections.
// So that transaction is erased by its own id, with an ordinary request.
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

// Reason is the reason of these requests.
const Reason = "came late"

// infix separates the id of the subject's request from a suffix.
const infix = ".late-"

// A suffix has two of these letters for each byte of a hash.
const (
	suffixBytes   = 16
	suffixLetters = "abcdefghijklmnop"
)

const maxRequestIDBytes = 128

// Carrier is the content of a record that was dropped for its subjects.
type Carrier struct {
	Target   lethe.Target
	At       lethe.Timestep
	Subjects []string
}

// CarrierOf returns the carrier in an event.
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

// Writer publishes requests.
type Writer interface {
	Write(ctx context.Context, t bus.Topic, records []ingest.Outgoing) error
}

// Requests publishes requests for late carriers.
type Requests struct {
	Secret lethe.Secret
	Ledger *deletions.Ledger
	// Most bounds the targets of a request.
	Most int
	Out  Writer
	Now  func() time.Time
}

// Ask publishes requests for carriers: one for each subject request up to the first that can no longer be cancelled,
// at its scope, and a separate one for held targets, so that nothing else waits for a hold. It is idempotent while
// these requests are unchanged.
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
				break // else cancelling it would cancel this erasure too
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

// record is the request for late targets. It avoids the id of a cancelled request, which a restored backup may
// leave.
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
		return ingest.OwnErasure(r.Secret, asked)
	}
}

// erases reports whether a request erases a subject of a carrier at its timestep.
func erases(secret lethe.Secret, e deletions.Entry, c Carrier) bool {
	return e.Suppresses() && slices.ContainsFunc(c.Subjects, func(subject string) bool {
		hash := secret.SuppressedSubject(subject)
		return slices.ContainsFunc(e.Subjects, func(s lethe.SubjectUntil) bool {
			return s.Target == hash && c.At <= s.Until
		})
	})
}

// request is for late targets of another request's subjects. Its id begins with the other's, unless that would name
// a target or be too long. times counts earlier requests for the same.
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

// suffix is derived from the subject request and the late targets, long enough to contain no id by chance.
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

// Of returns the subject request that a request of lethe's own belongs to.
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
	// Its id does not begin with the other's.
	list, err := ledger.Where(func(e *deletions.Entry) bool { return len(e.Subjects) > 0 })
	for i := 0; i < len(list) && err == nil && !is; i++ {
		of = list[i]
		is, err = asks(secret, ledger, of, e, "")
	}
	return of, is, err
}

// asks reports whether a request is for late targets of another one. prefix begins its id.
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
