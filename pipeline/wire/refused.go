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

// Refused answers, on erasure-status.v1, whoever signed a record of erasures.v1 that was not
// taken. It names the record by its signatures, which hold nothing of it. There is one key for
// all: who waits for an answer reads it before compaction does.
type Refused struct {
	Format string `json:"format"`
	// Signatures is the SHA-256 of the record's signatures, in hexadecimal.
	Signatures string        `json:"signatures"`
	Reason     ingest.Reason `json:"reason"`
	Detail     string        `json:"detail"`
}

// SignaturesDigest is what a Refused names a record by; it is empty for one without signatures.
func SignaturesDigest(headers []ingest.Header) string {
	text := authority.Signatures(headers)
	if text == nil {
		return ""
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

// RefusedControl returns the answer to a record that was not taken; none is due to one without
// signatures.
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

// ParseRefused reads a record of erasure-status.v1; it says whether it is such an answer.
func ParseRefused(rec ingest.Record) (r Refused, found bool) {
	if !bytes.Equal(rec.Key, []byte(refusedKey)) || rec.Unproven != "" {
		return r, false
	}
	err := json.Unmarshal(rec.Value, &r)
	return r, err == nil && r.Format == refusedFormat
}
