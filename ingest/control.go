package ingest

import (
	"crypto/hmac"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"lethe"
	"lethe/internal/normalise"
)

// In addition to requests, erasures.v1 carries operators' commands about them. These
// records have keys of their own, so that none replaces a request.

const (
	cancelPrefix  = controlPrefix + "cancel/"
	approvePrefix = controlPrefix + "approve/"
	holdPrefix    = controlPrefix + "hold/"
)

// Cancel withdraws a request before anything was rewritten for it. The digest binds it to
// the content of one request, so that it does not apply to another request of the same id.
type Cancel struct {
	RequestID   string
	Digest      lethe.Digest
	RequestedAt time.Time
}

// Approve is a second person's signature of a request, where two are required. The digest binds
// it to the content of the request.
type Approve struct {
	RequestID   string
	Digest      lethe.Digest
	RequestedAt time.Time
}

// Hold protects transactions, and records that carry subjects, from erasure until it ends
// or is lifted.
type Hold struct {
	// Name identifies the hold, by the rules of request ids.
	Name         string
	Transactions []lethe.TransactionID
	Subjects     []string
	Reason       string
	// Until is zero for a hold that ends only when it is lifted.
	Until       time.Time
	RequestedAt time.Time
}

// Targets returns the targets of the hold: transactions, then subjects.
func (h Hold) Targets() []lethe.Target {
	out := lethe.Transactions(h.Transactions...)
	for _, subject := range h.Subjects {
		out = append(out, lethe.SubjectThrough(subject, lethe.NoTimestep))
	}
	return out
}

// Lift ends a hold.
type Lift struct {
	Name        string
	RequestedAt time.Time
}

func (Cancel) event()  {}
func (Approve) event() {}
func (Hold) event()    {}
func (Lift) event()    {}

// HoldKey is the key of a hold and of the record that lifts it: the latter replaces the
// former, which names transactions.
func HoldKey(name string) []byte { return []byte(holdPrefix + name) }

// IsControl reports whether a key belongs to a command about requests. The record is not
// needed any more once the command has been carried out.
func IsControl(key []byte) bool {
	return slices.ContainsFunc([]string{cancelPrefix, approvePrefix, holdPrefix}, func(prefix string) bool {
		return strings.HasPrefix(string(key), prefix)
	})
}

// ofRequest reads the fields that identify a request and its content.
func (o *object) ofRequest(rec Record, prefix string) (out Approve, r *Refusal) {
	if r := o.hold(fieldType|fieldRequestID|fieldRequestDigest, fieldRequestedAt); r != nil {
		return out, r
	}
	if !ValidRequestID(o.requestID) {
		return out, &Refusal{BadRequestID, "request_id is not 1..128 of A-Z a-z 0-9 . _ -"}
	}
	if string(rec.Key) != prefix+o.requestID {
		return out, &Refusal{KeyMismatch, "the key is not " + prefix + "<request_id>"}
	}
	out.RequestID = o.requestID
	if err := out.Digest.UnmarshalText([]byte(o.requestDigest)); err != nil || out.Digest.IsZero() {
		return out, &Refusal{BadDigest, "request_digest is not 64 hexadecimal digits 0-9 a-f"}
	}
	out.RequestedAt, r = o.time(fieldRequestedAt, o.requestedAt)
	return out, r
}

func (o *object) legalHold(rec Record, limits Limits) (Event, *Refusal) {
	required := fieldType | fieldHoldID | fieldReason
	if o.present&fieldSubjects == 0 {
		required |= fieldNodes
	}
	if r := o.hold(required, fieldNodes|fieldSubjects|fieldUntil|fieldRequestedAt); r != nil {
		return nil, r
	}
	if r := o.holdKey(rec); r != nil {
		return nil, r
	}
	rule := normalise.Rule(limits.Normalise)
	out := Hold{Name: o.holdID, Reason: o.reason, Subjects: rule.Names(o.subjects)}
	most := limits.MaxErasureNodes
	if n := len(o.nodes) + len(o.subjects); n == 0 || n > most {
		return nil, &Refusal{NodeCount, fmt.Sprintf("%d nodes and subjects, want 1..%d", n, most)}
	}
	var r *Refusal
	if len(o.nodes) > 0 {
		if out.Transactions, r = erasureNodes(rule.Names(o.nodes), limits); r != nil {
			return nil, r
		}
	}
	for i, subject := range out.Subjects {
		if !lethe.ValidSubject(subject) {
			return nil, &Refusal{BadSubject, fmt.Sprintf("subject %d is no key: want %s", i, lethe.SubjectForm)}
		}
	}
	if n := reasonChars(o.reason); n == 0 || n > maxReasonChars {
		return nil, &Refusal{BadReasonText, fmt.Sprintf("%d characters, want 1..%d", n, maxReasonChars)}
	}
	if out.Until, r = o.time(fieldUntil, o.until); r != nil {
		return nil, r
	}
	out.RequestedAt, r = o.time(fieldRequestedAt, o.requestedAt)
	return out, r
}

func (o *object) lift(rec Record) (Event, *Refusal) {
	if r := o.hold(fieldType|fieldHoldID, fieldRequestedAt); r != nil {
		return nil, r
	}
	if r := o.holdKey(rec); r != nil {
		return nil, r
	}
	at, r := o.time(fieldRequestedAt, o.requestedAt)
	return Lift{Name: o.holdID, RequestedAt: at}, r
}

func (o *object) holdKey(rec Record) *Refusal {
	if !ValidRequestID(o.holdID) {
		return &Refusal{BadRequestID, "hold_id is not 1..128 of A-Z a-z 0-9 . _ -"}
	}
	if string(rec.Key) != string(HoldKey(o.holdID)) {
		return &Refusal{KeyMismatch, "the key is not " + holdPrefix + "<hold_id>"}
	}
	return nil
}

// time reads an optional time. Documents write times in UTC, where the year may differ from that in
// the text, and cannot hold a time before the year 0 or after 9999.
func (o *object) time(f field, text string) (time.Time, *Refusal) {
	if o.present&f == 0 {
		return time.Time{}, nil
	}
	at, err := time.Parse(time.RFC3339, text)
	if at = at.UTC(); err != nil || !strictTime(text) || at.Year() < 0 || at.Year() > 9999 {
		return time.Time{}, &Refusal{BadTime, f.names() + " is not an RFC 3339 time"}
	}
	return at, nil
}

// strictTime reports whether a text that time.Parse accepts conforms to RFC 3339: Parse also
// accepts hours of one digit, fractions after a comma, and offsets of 24 hours or 60 minutes.
func strictTime(text string) bool {
	const hour, second, offset = len("2006-01-02T15"), len("2006-01-02T15:04:05"), len("07:00")
	if text[hour] != ':' || text[second] == ',' {
		return false
	}
	from := len(text) - offset
	return strings.HasSuffix(text, "Z") || text[from:from+2] < "24" && text[from+3:] < "60"
}

// EncodeCancel returns key and value of the record that cancels a request. The error is a
// *Refusal.
func EncodeCancel(c Cancel) (key, value []byte, err error) {
	return encodeOfRequest("cancel", cancelPrefix, Approve(c))
}

// EncodeApprove returns key and value of the record that approves a request. The error is a
// *Refusal.
func EncodeApprove(a Approve) (key, value []byte, err error) {
	return encodeOfRequest("approve", approvePrefix, a)
}

func encodeOfRequest(kind, prefix string, a Approve) (key, value []byte, err error) {
	return encodeControl([]byte(prefix+a.RequestID), map[string]any{
		"type": kind, "request_id": a.RequestID, "request_digest": a.Digest,
	}, a.RequestedAt)
}

// EncodeHold returns key and value of a hold. The error is a *Refusal.
func EncodeHold(h Hold) (key, value []byte, err error) {
	if !utf8.ValidString(h.Reason) {
		return nil, nil, &Refusal{BadReasonText, "invalid UTF-8"}
	}
	body := map[string]any{"type": "hold", "hold_id": h.Name, "reason": h.Reason}
	if len(h.Transactions) > 0 || len(h.Subjects) == 0 {
		body["nodes"] = h.Transactions
	}
	if len(h.Subjects) > 0 {
		body["subjects"] = h.Subjects
	}
	if !h.Until.IsZero() {
		body["until"] = h.Until.UTC().Format(time.RFC3339Nano)
	}
	return encodeControl(HoldKey(h.Name), body, h.RequestedAt)
}

// EncodeLift returns key and value of the record that lifts a hold. The error is a *Refusal.
func EncodeLift(l Lift) (key, value []byte, err error) {
	return encodeControl(HoldKey(l.Name), map[string]any{"type": "lift", "hold_id": l.Name}, l.RequestedAt)
}

func encodeControl(key []byte, body map[string]any, at time.Time) (_, value []byte, err error) {
	if !at.IsZero() {
		body["requested_at"] = at.UTC().Format(time.RFC3339Nano)
	}
	if value, err = json.Marshal(body); err != nil {
		return nil, nil, &Refusal{BadReasonText, "cannot be written as JSON"}
	}
	if _, err := DecodeErasure(Record{Key: key, Value: value}, DefaultLimits()); err != nil {
		return nil, nil, err
	}
	return key, value, nil
}

// ownHeader is the header of a request made by lethe itself. Its value is a code under the
// deployment's secret, which replaces signatures.
const ownHeader = "lethe-own"

// OwnErasure encodes a request that lethe makes itself: for data older than its retention, late data of
// erased subjects, or data restored from a backup.
func OwnErasure(secret lethe.Secret, request lethe.ErasureRequest) (Outgoing, error) {
	key, value, err := EncodeErasure(request, time.Time{})
	return Outgoing{Key: key, Value: value, Headers: []Header{{Key: ownHeader, Value: ownCode(secret, key, value)}}}, err
}

// IsOwn reports whether a record is a request made by lethe itself.
func IsOwn(secret lethe.Secret, rec Record) bool {
	return slices.ContainsFunc(rec.Headers, func(h Header) bool {
		return h.Key == ownHeader && hmac.Equal(h.Value, ownCode(secret, rec.Key, rec.Value))
	})
}

func ownCode(secret lethe.Secret, key, value []byte) []byte {
	code := secret.Hash("request of lethe's own", key, value)
	return hex.AppendEncode(nil, code[:16])
}
