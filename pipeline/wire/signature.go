package wire

import (
	"crypto/ed25519"
	"slices"
	"strings"

	"lethe/deletions"
	"lethe/ingest"
	"lethe/internal/jws"
)

const (
	// statusHeader has the signature of a status: a compact JWS whose detached payload (RFC 7515, appendix F) is the
	// value of the record.
	statusHeader    = "lethe.status.jws"
	statusMediaType = "lethe-erasure-status.v1+jws"
	// answerMediaType is the typ of other records for requesters: holds, rejected records, and settings.
	answerMediaType = "lethe-answer.v1+jws"
)

// StatusRecord returns a status as a record of erasure-status.v1, signed with the key that
// signs receipts: requesters do not have the secret.
func StatusRecord(s deletions.Status, key ed25519.PrivateKey) (ingest.Outgoing, error) {
	value, err := s.Encode()
	if err != nil {
		return ingest.Outgoing{}, err
	}
	return signedAs(ingest.Outgoing{Key: []byte(s.Key()), Value: value}, statusMediaType, key)
}

// SignAnswers signs other records for requesters on erasure-status.v1.
func SignAnswers(records []ingest.Outgoing, key ed25519.PrivateKey) ([]ingest.Outgoing, error) {
	signed := make([]ingest.Outgoing, len(records))
	for i, rec := range records {
		var err error
		if signed[i], err = signedAs(rec, answerMediaType, key); err != nil {
			return nil, err
		}
	}
	return signed, nil
}

func signedAs(rec ingest.Outgoing, mediaType string, key ed25519.PrivateKey) (ingest.Outgoing, error) {
	signed, err := jws.Sign(jws.Encode(rec.Value), mediaType, key)
	if err != nil {
		return ingest.Outgoing{}, err
	}
	header := ingest.Header{Key: statusHeader, Value: []byte(signed.Protected + ".." + signed.Value)}
	rec.Headers = append(slices.Clip(rec.Headers), header)
	return rec, nil
}

// SignedStatus decodes a status under its own key of the topic, if one of the keys has signed it.
func SignedStatus(rec ingest.Record, keys []ed25519.PublicKey) (s deletions.Status, signed bool) {
	if !signedBy(rec, statusMediaType, keys) {
		return s, false
	}
	s, err := deletions.DecodeStatus(rec.Value)
	return s, err == nil && s.Key() == string(rec.Key)
}

// SignedAnswer reports whether one of the keys has signed a record for requesters that is no status. The caller must
// check the record's key.
func SignedAnswer(rec ingest.Record, keys []ed25519.PublicKey) bool {
	return signedBy(rec, answerMediaType, keys)
}

// RequesterSettings decodes the settings for requesters, and reports whether the key has signed them. Requesters have
// no secret, so the record needs no code.
func RequesterSettings(rec ingest.Record, key ed25519.PublicKey) (s Settings, signed bool) {
	if rec.Unauthenticated = ""; !SignedAnswer(rec, []ed25519.PublicKey{key}) {
		return s, false
	}
	s, found, err := ParseSettings(rec)
	return s, found && err == nil
}

func signedBy(rec ingest.Record, mediaType string, keys []ed25519.PublicKey) bool {
	for _, h := range rec.Headers {
		protected, value, is := strings.Cut(string(h.Value), "..")
		one := jws.Signature{Protected: protected, Value: value}
		if h.Key == statusHeader && is && verified(one, rec.Value, mediaType, keys) {
			return true
		}
	}
	return false
}

func verified(signature jws.Signature, value []byte, mediaType string, keys []ed25519.PublicKey) bool {
	header, err := signature.Header()
	if err != nil || header.Algorithm != jws.Algorithm || header.Type != mediaType {
		return false
	}
	payload := jws.Encode(value)
	return slices.ContainsFunc(keys, func(key ed25519.PublicKey) bool { return signature.Verify(payload, key) })
}

// IsStatus reports whether a record of erasure-status.v1 is, or claims to be, a status.
func IsStatus(rec ingest.Record) bool {
	return !strings.HasPrefix(string(rec.Key), "!") && isStatus(rec.Value)
}

// IsAnswer reports whether a record of erasure-status.v1 is, or claims to be, a record for requesters that is no
// status.
func IsAnswer(rec ingest.Record) bool {
	key := string(rec.Key)
	return !rec.Tombstone() &&
		(deletions.IsHoldKey(key) || key == refusedKey || strings.HasPrefix(key, settingsPrefix))
}
