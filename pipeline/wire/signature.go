package wire

import (
	"crypto/ed25519"
	"strings"

	"lethe/deletions"
	"lethe/ingest"
	"lethe/internal/jws"
)

const (
	// statusHeader carries the signature of a status: a compact JWS with detached payload (RFC
	// 7515, appendix F), which is the value of the record.
	statusHeader    = "lethe.status.jws"
	statusMediaType = "lethe-erasure-status.v1+jws"
)

// StatusRecord returns a status as a record of erasure-status.v1, signed with the key that
// signs receipts: requesters do not have the secret.
func StatusRecord(s deletions.Status, key ed25519.PrivateKey) (ingest.Outgoing, error) {
	value, err := s.Encode()
	if err != nil {
		return ingest.Outgoing{}, err
	}
	signed, err := jws.Sign(jws.Encode(value), statusMediaType, key)
	if err != nil {
		return ingest.Outgoing{}, err
	}
	header := ingest.Header{Key: statusHeader, Value: []byte(signed.Protected + ".." + signed.Value)}
	return ingest.Outgoing{Key: []byte(s.Key()), Value: value, Headers: []ingest.Header{header}}, nil
}

// SignedStatus reads a status that one of the keys has signed, from under its own key of the
// topic. Nothing else is one, whatever the record says.
func SignedStatus(rec ingest.Record, keys []ed25519.PublicKey) (s deletions.Status, signed bool) {
	for _, h := range rec.Headers {
		protected, value, is := strings.Cut(string(h.Value), "..")
		if h.Key == statusHeader && is && signedBy(jws.Signature{Protected: protected, Value: value}, rec.Value, keys) {
			s, err := deletions.DecodeStatus(rec.Value)
			return s, err == nil && s.Key() == string(rec.Key)
		}
	}
	return s, false
}

func signedBy(signature jws.Signature, value []byte, keys []ed25519.PublicKey) bool {
	header, err := signature.Header()
	if err != nil || header.Algorithm != jws.Algorithm || header.Type != statusMediaType {
		return false
	}
	payload := jws.Encode(value)
	for _, key := range keys {
		if signature.Verify(payload, key) {
			return true
		}
	}
	return false
}

// IsStatus reports whether a record of erasure-status.v1 is, or claims to be, a status.
func IsStatus(rec ingest.Record) bool {
	return !strings.HasPrefix(string(rec.Key), "!") && isStatus(rec.Value)
}
