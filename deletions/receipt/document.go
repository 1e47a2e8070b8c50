package receipt

import (
	"crypto/ed25519"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"lethe/deletions"
	"lethe/deletions/internal/record"
	"lethe/internal/jcs"
	"lethe/internal/jws"
)

// MediaType is the signatures' typ with the format version.
const MediaType = "lethe-receipt.v4+jws"

const (
	// MaxBytes bounds receipts. One of 1,000 targets has less than a megabyte.
	MaxBytes      = 64 << 20
	maxSignatures = 16
)

// ErrInconsistent means that the receipt contradicts itself, and was not signed.
var ErrInconsistent = errors.New("receipt contradicts itself")

// ErrSigned means that the key has signed already.
var ErrSigned = errors.New("this key has signed the receipt already")

// Document is a signed receipt: a JWS (RFC 7515) in general JSON serialization.
type Document struct {
	// Payload is the receipt as canonical JSON, in base64url.
	Payload string `json:"payload"`
	// Signatures are the deployment's and those of countersigning auditors.
	Signatures []jws.Signature `json:"signatures"`
	// Log is the inclusion proof in the transparency log (C2SP tlog-proof). No signature here covers it: its leaf has
	// the payload's digest, and its checkpoint a signature.
	Log string `json:"log,omitempty"`
}

// Sign checks and signs a receipt. Errors: ErrInconsistent with the problems.
func Sign(r Receipt, key ed25519.PrivateKey) (Document, error) {
	problems := r.Problems()
	if len(problems) > 0 {
		return Document{}, fmt.Errorf("%w: %s", ErrInconsistent, strings.Join(problems, "; "))
	}
	statement, err := record.Encode(r)
	if err != nil {
		return Document{}, fmt.Errorf("receipt: %w", err)
	}
	d := Document{Payload: jws.Encode(statement)}
	return d, d.Countersign(key)
}

// Countersign adds a signature. Errors: ErrSigned.
func (d *Document) Countersign(key ed25519.PrivateKey) error {
	s, err := jws.Sign(d.Payload, MediaType, key)
	if err != nil {
		return fmt.Errorf("receipt: %w", err)
	}
	for _, other := range d.Signatures {
		if other.Protected == s.Protected {
			return ErrSigned
		}
	}
	d.Signatures = append(d.Signatures, s)
	return nil
}

// Encode returns the document as canonical JSON.
func (d Document) Encode() ([]byte, error) {
	out, err := record.Encode(d)
	if err != nil {
		return nil, fmt.Errorf("receipt: %w", err)
	}
	return out, nil
}

// Decode reads a document without checking signatures. Errors: deletions.ErrFormat.
func Decode(data []byte) (d Document, err error) {
	members, err := membersOf(data)
	if err != nil {
		return d, err
	}
	if name := unsigned(members, "payload", "signatures", "log"); name != "" {
		return d, fmt.Errorf("receipt: %w: payload: beside it is a member %.40q that nobody has signed", deletions.ErrFormat,
			name)
	}
	// encoding/json would accept Payload for payload.
	if json.Unmarshal(members["payload"], &d.Payload) != nil {
		return d, fmt.Errorf("receipt: %w: no member payload that is a string", deletions.ErrFormat)
	}
	var list []map[string]json.RawMessage
	if text, has := members["signatures"]; has && json.Unmarshal(text, &list) != nil {
		return d, fmt.Errorf("receipt: %w: signatures is no list of objects", deletions.ErrFormat)
	}
	if len(list) > maxSignatures {
		return d, fmt.Errorf("receipt: %w: signature: there are %d, at most %d", deletions.ErrFormat, len(list),
			maxSignatures)
	}
	for i, one := range list {
		// RFC 7515 has an unprotected header. Nobody could vouch for its alg and kid, and crit is not allowed there.
		if name := unsigned(one, "protected", "signature"); name != "" {
			return d, fmt.Errorf("receipt: %w: signature: signature %d has a member %.40q that nobody has signed",
				deletions.ErrFormat, i+1, name)
		}
		var s jws.Signature
		for name, into := range map[string]*string{"protected": &s.Protected, "signature": &s.Value} {
			if text, has := one[name]; has && json.Unmarshal(text, into) != nil {
				return d, fmt.Errorf("receipt: %w: %s of signature %d is no string", deletions.ErrFormat, name, i)
			}
		}
		d.Signatures = append(d.Signatures, s)
	}
	if text, has := members["log"]; has && json.Unmarshal(text, &d.Log) != nil {
		return d, fmt.Errorf("receipt: %w: log is no string", deletions.ErrFormat)
	}
	return d, nil
}

// unsigned returns an unknown member, or "". RFC 7515 ignores such members; human readers would not.
func unsigned(members map[string]json.RawMessage, known ...string) string {
	for _, name := range slices.Sorted(maps.Keys(members)) {
		if !slices.Contains(known, name) {
			return name
		}
	}
	return ""
}

// WithLog replaces the inclusion proof of a document.
func WithLog(signed []byte, proof string) ([]byte, error) {
	d, err := Decode(signed)
	if err != nil {
		return nil, err
	}
	d.Log = proof
	return d.Encode()
}

// membersOf returns the members of an object without duplicates.
func membersOf(data []byte) (members map[string]json.RawMessage, err error) {
	if len(data) > MaxBytes {
		return nil, fmt.Errorf("receipt: %w: %d bytes, at most %d", deletions.ErrFormat, len(data), MaxBytes)
	}
	text, err := jcs.Transform(data)
	if err != nil {
		return nil, fmt.Errorf("receipt: %w: %w", deletions.ErrFormat, err)
	}
	if err := json.Unmarshal(text, &members); err != nil {
		return nil, fmt.Errorf("receipt: %w: not a JSON object of %d bytes", deletions.ErrFormat, len(data))
	}
	return members, nil
}

// Payload returns the signed bytes of a receipt, unchecked.
func Payload(signed []byte) ([]byte, error) {
	d, err := Decode(signed)
	if err != nil {
		return nil, err
	}
	payload, err := jws.Decode(d.Payload)
	if err != nil {
		return nil, fmt.Errorf("receipt: %w: payload: %w", deletions.ErrFormat, err)
	}
	return payload, nil
}
