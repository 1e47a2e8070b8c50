package receipt

import (
	"bytes"
	"cmp"
	"crypto/ed25519"
	"fmt"
	"slices"
	"strings"

	"lethe"
	"lethe/deletions/internal/record"
	"lethe/internal/jws"
)

// Trust is the prior knowledge of a checker of receipts.
type Trust struct {
	// Keys must all have signed: the deployment's first, then auditors'. Without any, no receipt is valid.
	Keys []ed25519.PublicKey
	// Former are earlier keys of the deployment. Their signatures count as the first key's.
	Former []ed25519.PublicKey
	// Deployment, if set, must be the receipt's.
	Deployment lethe.DeploymentID
}

// Pinned is the trust in one key.
func Pinned(key ed25519.PublicKey) Trust { return Trust{Keys: []ed25519.PublicKey{key}} }

// OfDeployment are the deployment's present and former keys, the only ones for its log's checkpoints.
func (t Trust) OfDeployment() []ed25519.PublicKey {
	if len(t.Keys) == 0 {
		return nil
	}
	return slices.Concat(t.Keys[:1], t.Former)
}

// Verification is the result of checking a receipt.
type Verification struct {
	// Valid: there are no problems.
	Valid bool `json:"valid"`
	// KeyID is the first signature's key.
	KeyID string `json:"key_id"`
	// TrustedKey: every required key has signed.
	TrustedKey bool             `json:"trusted_key"`
	Signatures []SignatureCheck `json:"signatures"`
	// Problems are without personal data, and begin with the failed statement: alg, kid, typ, signature, payload,
	// deployment or format.
	Problems []string `json:"problems"`
}

// SignatureCheck is the result for one signature.
type SignatureCheck struct {
	KeyID string `json:"key_id"`
	// Known: the caller trusts its key. Nothing follows from other signatures.
	Known bool `json:"known"`
	// Valid: it is by that key and over this payload.
	Valid bool `json:"valid"`
}

// KeyID is a key's thumbprint (RFC 7638).
func KeyID(key ed25519.PublicKey) string { return jws.Thumbprint(key) }

// Verify checks a signed receipt. The error is deletions.ErrFormat; other problems are in the verification.
func Verify(data []byte, trust Trust) (Receipt, Verification, error) {
	d, err := Decode(data)
	if err != nil {
		return Receipt{}, Verification{}, err
	}
	var v Verification
	var problems record.Problems
	v.signatures(d, trust, &problems)
	r := d.statement(&problems)
	v.close(r, trust, problems)
	return r, v, nil
}

func (v *Verification) close(r Receipt, trust Trust, problems record.Problems) {
	if want := trust.Deployment; !want.IsZero() {
		problems.Check(!r.Deployment.IsZero(), "deployment: the receipt names none, it should be %s", want)
		problems.Check(r.Deployment.IsZero() || r.Deployment == want,
			"deployment: the receipt is of %s, it should be of %s", r.Deployment, want)
	}
	v.Problems, v.Valid = list(problems), len(problems) == 0
}

func (v *Verification) signatures(d Document, trust Trust, problems *record.Problems) {
	problems.Check(len(d.Signatures) > 0, "signature: there is none")
	keys := make(map[string]ed25519.PublicKey)
	for _, key := range slices.Concat(trust.Keys, trust.Former) {
		keys[KeyID(key)] = key
	}
	valid := make(map[string]bool)
	var by []string
	for i, s := range d.Signatures {
		check := checkSignature(s, d.Payload, keys, func(ok bool, format string, args ...any) {
			problems.Check(ok, format+fmt.Sprintf(" (signature %d)", i+1), args...)
		})
		if i == 0 {
			v.KeyID = check.KeyID
		}
		v.Signatures = append(v.Signatures, check)
		by = append(by, fmt.Sprintf("%.43q", check.KeyID))
		valid[check.KeyID] = valid[check.KeyID] || check.Valid
	}
	trust.count(valid)
	v.TrustedKey = len(trust.Keys) > 0
	problems.Check(v.TrustedKey, "signature: no trusted key is given, so the signature proves nothing")
	for _, key := range trust.Keys {
		id := KeyID(key)
		v.TrustedKey = v.TrustedKey && valid[id]
		_, claimed := valid[id]
		problems.Check(claimed, "kid: no signature is by the trusted key %s, but by %s", id,
			cmp.Or(strings.Join(by, ", "), "nobody"))
	}
}

// count counts signatures by former keys for the present one.
func (t Trust) count(valid map[string]bool) {
	if len(t.Keys) == 0 {
		return
	}
	own := KeyID(t.Keys[0])
	for _, key := range t.Former {
		if is, claimed := valid[KeyID(key)]; claimed {
			valid[own] = valid[own] || is
		}
	}
}

// checkSignature checks a signature and its header.
func checkSignature(
	s jws.Signature, payload string, keys map[string]ed25519.PublicKey, check func(ok bool, format string, args ...any),
) SignatureCheck {
	h, err := s.Header()
	if err != nil {
		check(false, "signature: %v", err)
		return SignatureCheck{}
	}
	check(h.Algorithm == jws.Algorithm, "alg: %.20q, want %s", h.Algorithm, jws.Algorithm)
	check(h.Type == MediaType, "typ: %.40q, want %s", h.Type, MediaType)
	key, known := keys[h.KeyID]
	out := SignatureCheck{KeyID: h.KeyID, Known: known}
	if !known {
		return out
	}
	intact := s.Verify(payload, key)
	check(intact, "signature: it does not belong to payload and header: these were altered, or another key has signed")
	out.Valid = intact && h.Algorithm == jws.Algorithm && h.Type == MediaType
	return out
}

// statement reads and checks the payload.
func (d Document) statement(problems *record.Problems) (r Receipt) {
	text, err := jws.Decode(d.Payload)
	if err == nil {
		err = record.DecodeMembers(text, &r)
	}
	if err != nil {
		problems.Check(false, "payload: %v", err)
		return Receipt{}
	}
	for _, problem := range r.Problems() {
		problems.Check(false, "payload: %s", problem)
	}
	again, err := record.Encode(r)
	problems.Check(err == nil && bytes.Equal(again, text),
		"payload: not as lethe writes it: a member is doubled, missing, misspelt or out of order")
	return r
}
