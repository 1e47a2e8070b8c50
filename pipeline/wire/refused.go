package wire

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"

	"lethe/ingest"
	"lethe/ingest/authority"
)

const (
	refusedFormat = "lethe-refused/1"
	refusedKey    = "!refused"
)

// Refused is published on erasure-status.v1 for a signed record of erasures.v1 that was rejected. It identifies the
// record by its signatures, which hold nothing of it. All have one key: a requester that waits reads it before
// compaction.
type Refused struct {
	Format string `json:"format"`
	// Signatures is the SHA-256 of the record's signatures, in hexadecimal.
	Signatures string        `json:"signatures"`
	Reason     ingest.Reason `json:"reason"`
	Detail     string        `json:"detail"`
}

// SignaturesDigest identifies a record in a Refused; it is empty for one without signatures.
func SignaturesDigest(headers []ingest.Header) string {
	text := authority.Signatures(headers)
	if text == nil {
		return ""
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

// RefusedControl returns the Refused of a record; one without signatures has none.
func RefusedControl(rec ingest.Record, refusal *ingest.Refusal) (out ingest.Outgoing, due bool, err error) {
	r := Refused{refusedFormat, SignaturesDigest(rec.Headers), refusal.Reason, refusal.Detail}
	if r.Signatures == "" {
		return out, false, nil
	}
	value, err := json.Marshal(r)
	if err != nil {
		return out, false, fmt.Errorf("answer to a record that is refused: %w", err)
	}
	return ingest.Outgoing{Key: []byte(refusedKey), Value: value}, true, nil
}

// ParseRefused decodes a record of erasure-status.v1, if it is a Refused.
func ParseRefused(rec ingest.Record) (r Refused, found bool) {
	if !bytes.Equal(rec.Key, []byte(refusedKey)) || rec.Unauthenticated != "" {
		return r, false
	}
	err := json.Unmarshal(rec.Value, &r)
	return r, err == nil && r.Format == refusedFormat
}
