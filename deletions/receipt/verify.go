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

// Trust is what whoever checks a receipt knows beforehand.
type Trust struct {
	// Keys are those that must have signed, each of them: the deployment's, which was handed
	// over or pinned, is the first, behind it an auditor's that is asked for. Without any no
	// receipt is valid.
	Keys []ed25519.PublicKey
	// Former are keys that the first of Keys has replaced. A signature by one of them counts
	// as one by it.
	Former []ed25519.PublicKey
	// Deployment, if set, is whose receipt it must be.
	Deployment lethe.DeploymentID
}

// Pinned is the trust in one key.
func Pinned(key ed25519.PublicKey) Trust { return Trust{Keys: []ed25519.PublicKey{key}} }

// OfDeployment are the keys that the deployment signs with, or has signed with before. What the
// deployment alone may say, such as a checkpoint of its log, no other key says.
func (t Trust) OfDeployment() []ed25519.PublicKey {
	if len(t.Keys) == 0 {
		return nil
	}
	return slices.Concat(t.Keys[:1], t.Former)
}

// Verification is what checking a receipt found.
type Verification struct {
	// Valid: nothing is wrong, see Problems.
	Valid bool `json:"valid"`
	// KeyID names the key that the first signature claims to be by.
	KeyID string `json:"key_id"`
	// TrustedKey: every key that must have signed has, unaltered.
	TrustedKey bool `json:"trusted_key"`
	// Signatures are all there are.
	Signatures []SignatureCheck `json:"signatures"`
	// Problems says what is wrong, in words without personal data. Each begins with the
	// statement that fails: alg, kid, typ, signature, payload, deployment or format.
	Problems []string `json:"problems"`
}

// SignatureCheck is what is known of one signature.
type SignatureCheck struct {
	KeyID string `json:"key_id"`
	// Known: it claims to be by a key that the caller trusts. Nothing can be said of one by
	// another key, and nothing follows from it.
	Known bool `json:"known"`
	// Valid: it is by that key, and the payload is unaltered.
	Valid bool `json:"valid"`
}

// KeyID names a public key, as signatures do: its thumbprint of RFC 7638.
func KeyID(key ed25519.PublicKey) string { return jws.Thumbprint(key) }

// Verify checks a signed receipt. The error is deletions.ErrFormat for what is no receipt at
// all; everything else that is wrong is in the verification's problems.
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

// close checks what formats have in common.
func (v *Verification) close(r Receipt, trust Trust, problems record.Problems) {
	if want := trust.Deployment; !want.IsZero() {
		problems.Check(!r.Deployment.IsZero(), "deployment: the receipt names none, it should be %s", want)
		problems.Check(r.Deployment.IsZero() || r.Deployment == want,
			"deployment: the receipt is of %s, it should be of %s", r.Deployment, want)
	}
	v.Problems, v.Valid = list(problems), len(problems) == 0
}

// signatures checks all signatures under the keys that are trusted.
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
	problems.Check(v.TrustedKey, "signature: no key is known that must have signed: nobody can say who did")
	for _, key := range trust.Keys {
		id := KeyID(key)
		v.TrustedKey = v.TrustedKey && valid[id]
		_, claimed := valid[id]
		problems.Check(claimed, "kid: no signature is by the trusted key %s, but by %s", id,
			cmp.Or(strings.Join(by, ", "), "nobody"))
	}
}

// count takes what is known of signatures by former keys, by key id, for signatures by the key
// that has replaced them.
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

// checkSignature checks one signature and its header. Only a key that is known counts.
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

// statement reads the payload and checks it in itself.
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
