package receipt

import (
	"crypto/ed25519"
	"errors"
	"fmt"
	"strings"

	"github.com/go-json-experiment/json"

	"lethe/deletions"
	"lethe/deletions/internal/record"
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

// Decode reads a document without checking signatures. Errors: deletions.ErrFormat. It rejects members without a
// signature: RFC 7515 ignores such members, as an unprotected header; human readers would not.
func Decode(data []byte) (d Document, err error) {
	if len(data) > MaxBytes {
		return d, fmt.Errorf("receipt: %w: %d bytes, at most %d", deletions.ErrFormat, len(data), MaxBytes)
	}
	var at *json.SemanticError
	switch err := json.Unmarshal(data, &d, json.RejectUnknownMembers(true)); {
	case errors.As(err, &at) && errors.Is(at.Err, json.ErrUnknownName):
		err = fmt.Errorf("receipt: %w: it has a member %.60q that nobody has signed", deletions.ErrFormat, at.JSONPointer)
		return Document{}, err
	case err != nil: // it would repeat the input
		return Document{}, fmt.Errorf("receipt: %w: not the JSON of a receipt", deletions.ErrFormat)
	case d.Payload == "":
		return Document{}, fmt.Errorf("receipt: %w: no payload", deletions.ErrFormat)
	case len(d.Signatures) > maxSignatures:
		return Document{}, fmt.Errorf("receipt: %w: signature: there are %d, at most %d", deletions.ErrFormat,
			len(d.Signatures), maxSignatures)
	}
	return d, nil
}

// Statement returns the signed bytes.
func (d Document) Statement() ([]byte, error) {
	payload, err := jws.Decode(d.Payload)
	if err != nil {
		return nil, fmt.Errorf("receipt: %w: payload: %w", deletions.ErrFormat, err)
	}
	return payload, nil
}

// Payload returns the signed bytes of a receipt, unchecked.
func Payload(signed []byte) ([]byte, error) {
	d, err := Decode(signed)
	if err != nil {
		return nil, err
	}
	return d.Statement()
}
