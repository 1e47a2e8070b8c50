package receipt

import (
	"bytes"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"

	"lethe/deletions/internal/record"
)

// The formats of before: an envelope of our own, with the key beside the signature. They are
// read and no longer written.
const (
	legacyFormat    = "lethe-receipt/3"
	legacyFormat1   = "lethe-receipt/1"
	legacyAlgorithm = "Ed25519"
)

// envelope is the document. The signature is over the bytes of its receipt
// member as they stand in the document once white space is taken out: JSON with
// sorted member names.
type envelope struct {
	Format    string          `json:"format"`
	Receipt   json.RawMessage `json:"receipt"`
	Signature legacySignature `json:"signature"`
}

type legacySignature struct {
	Algorithm string `json:"algorithm"`
	KeyID     string `json:"key_id"`
	// PublicKey and Value are standard base64.
	PublicKey string `json:"public_key"`
	Value     string `json:"value"`
}

// isLegacy reports whether a document claims to be of a format of before.
func isLegacy(data []byte) bool {
	var head struct {
		Format string `json:"format"`
	}
	return json.Unmarshal(data, &head) == nil && head.Format != ""
}

// legacyKeyID is the first 8 bytes of the key's SHA-256, in hexadecimal.
func legacyKeyID(key ed25519.PublicKey) string {
	sum := sha256.Sum256(key)
	return hex.EncodeToString(sum[:8])
}

// verifyLegacy is Verify for formats of before. White space outside strings is the only thing
// that may differ from what was signed.
func verifyLegacy(data []byte, trust Trust) (Receipt, Verification, error) {
	var doc envelope
	var r Receipt
	if err := record.Decode(data, &doc, legacyFormat, legacyFormat1); err != nil {
		return r, Verification{}, fmt.Errorf("receipt: %w", err)
	}
	if err := record.DecodeMembers(doc.Receipt, &r); err != nil {
		return r, Verification{}, fmt.Errorf("receipt: %w", err)
	}
	var problems record.Problems
	for _, problem := range r.consistent() {
		problems.Check(false, "payload: %s", problem)
	}
	problems.Check(isCanonical(data, doc, r),
		"payload: the document is not as lethe writes it: a member is doubled, missing, misspelt or out of order")
	problems.Check((doc.Format == legacyFormat) == (r.Elapsed.Verified != nil), "format: it does not fit the receipt")
	v := Verification{KeyID: doc.Signature.KeyID}
	v.legacySignature(doc, trust, &problems)
	v.close(r, trust, problems)
	return r, v, nil
}

// legacySignature checks the signature under the key beside it, which must be the one that is
// trusted.
func (v *Verification) legacySignature(doc envelope, trust Trust, problems *record.Problems) {
	s := doc.Signature
	problems.Check(s.Algorithm == legacyAlgorithm, "alg: not %s", legacyAlgorithm)
	public, value := decodeSized(s.PublicKey, ed25519.PublicKeySize), decodeSized(s.Value, ed25519.SignatureSize)
	if public == nil || value == nil {
		problems.Check(false, "signature: it or its public key is not of the right length")
		return
	}
	problems.Check(s.KeyID == legacyKeyID(public), "kid: key_id does not belong to the public key")
	// Raw bytes keep white space that stands between members.
	var body bytes.Buffer
	intact := json.Compact(&body, doc.Receipt) == nil && ed25519.Verify(public, body.Bytes(), value)
	problems.Check(intact, "signature: it does not belong to the receipt")
	known := func(key ed25519.PublicKey) bool { return bytes.Equal(key, public) }
	if len(trust.Keys) > 0 && slices.ContainsFunc(trust.Former, known) {
		trust.Keys = append([]ed25519.PublicKey{public}, trust.Keys[1:]...)
	}
	check := SignatureCheck{KeyID: s.KeyID, Known: slices.ContainsFunc(trust.Keys, known)}
	check.Valid = check.Known && intact
	v.Signatures = []SignatureCheck{check}
	problems.Check(len(trust.Keys) > 0, "signature: no key is known that must have signed: nobody can say who did")
	v.TrustedKey = check.Valid
	for _, key := range trust.Keys {
		problems.Check(known(key), "kid: signed by another key than the trusted one %s", legacyKeyID(key))
		v.TrustedKey = v.TrustedKey && known(key)
	}
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
	// json.Marshal would escape characters in the receipt's bytes.
	again, err := record.Compact(doc)
	return err == nil && bytes.Equal(again, compact.Bytes())
}

// decodeSized returns nil unless the text is strict base64 of that many bytes.
func decodeSized(text string, size int) []byte {
	out, err := base64.StdEncoding.Strict().DecodeString(text)
	if err != nil || len(out) != size {
		return nil
	}
	return out
}
