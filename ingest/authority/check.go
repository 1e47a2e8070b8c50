package authority

import (
	"fmt"
	"time"

	"lethe/ingest"
	"lethe/internal/jws"
)

const (
	// header carries the signatures of a record.
	header = "lethe.jws"
	// mediaType is the JWS typ header of a signed record.
	mediaType = "lethe-record.v1+jws"
	// maxSignatures bounds the signatures of one record.
	maxSignatures = 8
	// aheadOfClock is how far a signer's clock may be ahead of ours.
	aheadOfClock = 10 * time.Minute
)

// Signed is the result of checking a record's signatures.
type Signed struct {
	// By are the thumbprints of the keys, in the order of the signatures.
	By []string
	// At is when the latest signature was made, according to its signer; Until is when the
	// first one expires, zero for never.
	At, Until time.Time
}

// Check verifies a record's signatures and returns the keys that made them. Every signature
// must be valid and made by a key of the role. The refusal names the first check that fails;
// it identifies keys by their thumbprints. Check ignores the clock, see InTime.
func (k Keys) Check(rec ingest.Record, role Role) (s Signed, r *ingest.Refusal) {
	var list []jws.Signature
	for _, h := range rec.Headers {
		if h.Key != header {
			continue
		}
		own, err := jws.DecodeDetached(h.Value, maxSignatures)
		if err != nil {
			return s, refused(ingest.BadSignature, "%v", err)
		}
		if list = append(list, own...); len(list) > maxSignatures {
			return s, refused(ingest.BadSignature, "more than %d signatures", maxSignatures)
		}
	}
	if len(list) == 0 {
		return s, refused(ingest.Unsigned, "it must be signed by a key of the role %s", role)
	}
	payload := jws.Encode(rec.Value)
	for _, one := range list {
		h, r := k.signature(one, payload, rec, role)
		if r != nil {
			return Signed{}, r
		}
		s.By = append(s.By, h.KeyID)
		if at := time.Unix(h.IssuedAt, 0).UTC(); at.After(s.At) {
			s.At = at
		}
		if until := time.Unix(h.Expires, 0).UTC(); h.Expires > 0 && (s.Until.IsZero() || until.Before(s.Until)) {
			s.Until = until
		}
	}
	return s, nil
}

// signature checks one signature of a record.
func (k Keys) signature(
	one jws.Signature, payload string, rec ingest.Record, role Role,
) (h jws.Header, r *ingest.Refusal) {
	h, err := one.Header()
	if err != nil {
		return h, refused(ingest.BadSignature, "%v", err)
	}
	// The header is not verified yet, so its kid is repeated only if it is a thumbprint.
	if id, err := jws.Decode(h.KeyID); err != nil || len(id) != thumbprintBytes {
		return h, refused(ingest.BadSignature, "its kid is not the thumbprint of a key")
	}
	by, known := k.byID[h.KeyID]
	switch {
	case !known:
		return h, refused(ingest.UnknownKey, "key %s is not in the file of keys", h.KeyID)
	case h.Algorithm != jws.Algorithm || h.Type != mediaType:
		return h, refused(ingest.BadSignature, "its header is not of alg %s and typ %s", jws.Algorithm, mediaType)
	case !one.Verify(payload, by.key):
		return h, refused(ingest.BadSignature, "the signature of key %s is not of this record", h.KeyID)
	case h.Audience != rec.Topic:
		return h, refused(ingest.BadSignature, "key %s has signed it for another topic", h.KeyID)
	case h.Subject != string(rec.Key):
		return h, refused(ingest.BadSignature, "key %s has signed it for another key of the topic", h.KeyID)
	case h.IssuedAt == 0:
		return h, refused(ingest.BadSignature, "key %s has signed it without saying when", h.KeyID)
	case by.role != role:
		return h, refused(ingest.WrongRole, "key %s has the role %s, not %s", h.KeyID, by.role, role)
	}
	return h, nil
}

const thumbprintBytes = 32

// InTime rejects signatures that have expired, are dated in the future, or have no expiry: a stored
// copy of such a record could be replayed at any time.
func (s Signed) InTime(now time.Time) *ingest.Refusal {
	switch {
	case s.Until.IsZero():
		return refused(ingest.BadSignature, "it is signed without saying until when (exp)")
	case !now.Before(s.Until):
		return refused(ingest.SignatureExpired, "it expired at %s", s.Until.Format(time.RFC3339))
	case s.At.After(now.Add(aheadOfClock)):
		return refused(ingest.SignatureExpired, "it is of %s, which is to come", s.At.Format(time.RFC3339))
	}
	return nil
}

func refused(why ingest.Reason, detail string, args ...any) *ingest.Refusal {
	return &ingest.Refusal{Reason: why, Detail: fmt.Sprintf(detail, args...)}
}
