package receipt

import (
	"bytes"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"lethe/deletions/internal/record"
)

const (
	receiptFormat    = "lethe-receipt/3"
	receiptFormat1   = "lethe-receipt/1"
	receiptAlgorithm = "Ed25519"
)

// ErrInconsistent refuses to sign a receipt that contradicts itself. The caller has
// not finished the erasure, or has lost count of it.
var ErrInconsistent = errors.New("receipt contradicts itself")

// envelope is the document. The signature is over the bytes of its receipt
// member as they stand in the document once white space is taken out: JSON with
// sorted member names (canonicalJSON).
type envelope struct {
	Format    string          `json:"format"`
	Receipt   json.RawMessage `json:"receipt"`
	Signature signature       `json:"signature"`
}

type signature struct {
	Algorithm string `json:"algorithm"`
	KeyID     string `json:"key_id"`
	// PublicKey and Value are standard base64.
	PublicKey string `json:"public_key"`
	Value     string `json:"value"`
}

// Verification is what checking a receipt found.
type Verification struct {
	// Valid: the document is unchanged since it was signed, and consistent.
	Valid bool `json:"valid"`
	// KeyID names the key it claims to be signed by.
	KeyID string `json:"key_id"`
	// TrustedKey: that key is the one the caller trusts. Without it a valid
	// receipt proves only that whoever made it had some key.
	TrustedKey bool `json:"trusted_key"`
	// Problems says what is wrong, in words without personal data.
	Problems []string `json:"problems"`
}

// KeyID is the short name of a public key: the first 8 bytes of its SHA-256, in
// hexadecimal.
func KeyID(key ed25519.PublicKey) string {
	sum := sha256.Sum256(key)
	return hex.EncodeToString(sum[:8])
}

// Sign checks the receipt and returns the signed document as compact JSON. A
// receipt with problems is ErrInconsistent and names them.
func Sign(r Receipt, key ed25519.PrivateKey) ([]byte, error) {
	if len(key) != ed25519.PrivateKeySize {
		return nil, fmt.Errorf("signing key has %d bytes, want %d", len(key), ed25519.PrivateKeySize)
	}
	if problems := r.Problems(); len(problems) > 0 {
		return nil, fmt.Errorf("%w: %s", ErrInconsistent, strings.Join(problems, "; "))
	}
	body, err := record.Encode(r)
	if err != nil {
		return nil, fmt.Errorf("receipt: %w", err)
	}
	public := ed25519.PublicKey(key[ed25519.PrivateKeySize-ed25519.PublicKeySize:])
	return marshalEnvelope(envelope{receiptFormat, body, signature{
		Algorithm: receiptAlgorithm,
		KeyID:     KeyID(public),
		PublicKey: base64.StdEncoding.EncodeToString(public),
		Value:     base64.StdEncoding.EncodeToString(ed25519.Sign(key, body)),
	}})
}

// Verify checks a signed document under the trusted key, or, if that is nil,
// under the key in the document. The error is ErrFormat for what is no receipt
// at all; everything else that is wrong is in the verification's problems. White
// space outside strings is the only thing that may differ from what was signed.
func Verify(data []byte, trusted ed25519.PublicKey) (Receipt, Verification, error) {
	var doc envelope
	var r Receipt
	if err := record.Decode(data, &doc, receiptFormat, receiptFormat1); err != nil {
		return r, Verification{}, fmt.Errorf("receipt: %w", err)
	}
	if err := record.DecodeMembers(doc.Receipt, &r); err != nil {
		return r, Verification{}, fmt.Errorf("receipt: %w", err)
	}
	v := Verification{KeyID: doc.Signature.KeyID}
	problems := record.Problems(r.Problems())
	problems.Check(isCanonical(data, doc, r),
		"the document is not as lethe writes it: a member is doubled, missing, misspelt or out of order")
	problems.Check((doc.Format == receiptFormat) == (r.Elapsed.Verified != nil), "format does not fit the receipt")
	public := decodeSized(doc.Signature.PublicKey, ed25519.PublicKeySize)
	value := decodeSized(doc.Signature.Value, ed25519.SignatureSize)
	problems.Check(doc.Signature.Algorithm == receiptAlgorithm, "the signature's algorithm is not %s", receiptAlgorithm)
	problems.Check(public != nil && value != nil, "the public key or the signature is not of the right length")
	if public != nil {
		problems.Check(doc.Signature.KeyID == KeyID(public), "key_id does not belong to the public key")
		if trusted != nil {
			v.TrustedKey = bytes.Equal(public, trusted)
			problems.Check(v.TrustedKey, "signed by another key than the trusted one")
		}
	}
	if public != nil && value != nil {
		// Raw bytes keep white space that stands between members.
		var body bytes.Buffer
		intact := json.Compact(&body, doc.Receipt) == nil && ed25519.Verify(public, body.Bytes(), value)
		problems.Check(intact, "the signature does not belong to the receipt")
	}
	v.Problems, v.Valid = list(problems), len(problems) == 0
	return r, v, nil
}

// isCanonical reports whether the document is what encoding its content gives.
func isCanonical(data []byte, doc envelope, r Receipt) bool {
	var compact bytes.Buffer
	if json.Compact(&compact, data) != nil {
		return false
	}
	body, err := record.Encode(r)
	if err != nil {
		return false
	}
	doc.Receipt = body
	again, err := marshalEnvelope(doc)
	return err == nil && bytes.Equal(again, compact.Bytes())
}

// marshalEnvelope writes the document without touching the receipt's bytes:
// json.Marshal would escape characters in them.
func marshalEnvelope(doc envelope) ([]byte, error) {
	out, err := record.Compact(doc)
	if err != nil {
		return nil, fmt.Errorf("receipt: %w", err)
	}
	return out, nil
}

// decodeSized returns nil unless the text is strict base64 of that many bytes.
func decodeSized(text string, size int) []byte {
	out, err := base64.StdEncoding.Strict().DecodeString(text)
	if err != nil || len(out) != size {
		return nil
	}
	return out
}
