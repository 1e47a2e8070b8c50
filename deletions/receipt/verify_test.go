package receipt_test

import (
	"bytes"
	"crypto/ed25519"
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"lethe"
	"lethe/deletions"
	"lethe/deletions/receipt"
	"lethe/internal/jws"
)

func signed(t testing.TB, r receipt.Receipt, key ed25519.PrivateKey) []byte {
	t.Helper()
	d, err := receipt.Sign(r, key)
	require.NoError(t, err)
	data, err := d.Encode()
	require.NoError(t, err)
	return data
}

func problems(t testing.TB, data []byte, trust receipt.Trust) []string {
	t.Helper()
	_, v, err := receipt.Verify(data, trust)
	require.NoError(t, err)
	require.Equal(t, len(v.Problems) == 0, v.Valid)
	return v.Problems
}

func TestReceiptRoundTrip(t *testing.T) {
	key := signingKey(1)
	for _, scope := range []lethe.Scope{lethe.ScopeShard, lethe.ScopeStubs, lethe.ScopePartition} {
		want := verifiedReceipt(t, scope)
		data := signed(t, want, key)
		require.NotContains(t, string(data), "transaction-1")
		got, v, err := receipt.Verify(data, trust(key))
		require.NoError(t, err)
		require.Equal(t, want, got)
		id := receipt.KeyID(public(key))
		require.Equal(t, receipt.Verification{
			Valid: true, KeyID: id, TrustedKey: true, Problems: []string{},
			Signatures: []receipt.SignatureCheck{{KeyID: id, Known: true, Valid: true}},
		}, v)
		var indented bytes.Buffer
		require.NoError(t, json.Indent(&indented, data, "", "  "))
		require.Empty(t, problems(t, indented.Bytes(), trust(key)), "white space may differ")
	}
}

// A program in another language checks a receipt with nothing but RFC 7515.
func TestTheSignatureIsOfTheStandard(t *testing.T) {
	key := signingKey(1)
	var doc struct {
		Payload    string
		Signatures []struct{ Protected, Signature string }
	}
	require.NoError(t, json.Unmarshal(signed(t, verifiedReceipt(t, lethe.ScopeStubs), key), &doc))
	require.Len(t, doc.Signatures, 1)
	value, err := jws.Decode(doc.Signatures[0].Signature)
	require.NoError(t, err)
	require.True(t, ed25519.Verify(public(key), []byte(doc.Signatures[0].Protected+"."+doc.Payload), value))
	header, err := jws.Decode(doc.Signatures[0].Protected)
	require.NoError(t, err)
	require.Equal(t, `{"alg":"EdDSA","kid":"`+receipt.KeyID(public(key))+`","typ":"lethe-receipt.v4+jws"}`, string(header))
}

// Each refusal names the statement that fails.
func TestRefusalsNameWhatFails(t *testing.T) {
	key, other := signingKey(1), signingKey(2)
	r := verifiedReceipt(t, lethe.ScopeStubs)
	data := signed(t, r, key)
	d, err := receipt.Decode(data)
	require.NoError(t, err)
	id := receipt.KeyID(public(key))
	const altered = "signature: it does not belong to payload and header: these were altered, or another key has " +
		"signed (signature 1)"
	const notOurs = "payload: not as lethe writes it: a member is doubled, missing, misspelt or out of order"
	// withHeader has another header and keeps the signature.
	withHeader := func(header string) []byte {
		return []byte(strings.Replace(string(data), d.Signatures[0].Protected, jws.Encode([]byte(header)), 1))
	}
	// withPayload has another statement and keeps the signature.
	statement, err := jws.Decode(d.Payload)
	require.NoError(t, err)
	withPayload := func(old, replacement string) []byte {
		require.Contains(t, string(statement), old)
		text := strings.Replace(string(statement), old, replacement, 1)
		return []byte(strings.Replace(string(data), d.Payload, jws.Encode([]byte(text)), 1))
	}
	alien := receipt.Trust{Keys: trust(key).Keys, Deployment: lethe.DeploymentID{8}}
	for name, c := range map[string]struct {
		data  []byte
		trust receipt.Trust
		want  []string
	}{
		"a forged key": {signed(t, r, other), trust(key), []string{
			"kid: no signature is by the trusted key " + id + `, but by "` + receipt.KeyID(public(other)) + `"`}},
		"a forged key under the name of ours": {
			[]byte(strings.Replace(string(data), d.Signatures[0].Value, jws.Encode(
				ed25519.Sign(other, []byte(d.Signatures[0].Protected+"."+d.Payload))), 1)), trust(key), []string{altered}},
		"no key is known": {data, receipt.Trust{}, []string{
			"signature: no trusted key is given, so the signature proves nothing"}},
		"no signature": {[]byte(`{"payload":"` + d.Payload + `","signatures":[]}`), trust(key), []string{
			"signature: there is none", "kid: no signature is by the trusted key " + id + ", but by nobody"}},
		"an empty signature": {[]byte(strings.Replace(string(data), d.Signatures[0].Value, "", 1)), trust(key),
			[]string{altered}},
		"alg none": {withHeader(`{"alg":"none","kid":"` + id + `","typ":"lethe-receipt.v4+jws"}`), trust(key), []string{
			`alg: "none", want EdDSA (signature 1)`, altered}},
		"another typ": {withHeader(`{"alg":"EdDSA","kid":"` + id + `","typ":"lethe-receipt.v5+jws"}`), trust(key), []string{
			`typ: "lethe-receipt.v5+jws", want lethe-receipt.v4+jws (signature 1)`, altered}},
		"another kid": {withHeader(`{"alg":"EdDSA","kid":"x","typ":"lethe-receipt.v4+jws"}`), trust(key), []string{
			"kid: no signature is by the trusted key " + id + `, but by "x"`}},
		"an altered number": {withPayload(`"payments":5`, `"payments":4`), trust(key), []string{altered}},
		"an altered hit": {withPayload(`"hits":0`, `"hits":1`), trust(key), []string{altered,
			"payload: the scan has 1 hits, a verified request has none"}},
		"an unknown member": {withPayload(`{`, `{"a":1,`), trust(key), []string{altered,
			"payload: not a known format: a member is unknown or of the wrong type"}},
		"white space":      {withPayload(`,`, `, `), trust(key), []string{altered, notOurs}},
		"a doubled member": {withPayload(`{`, `{"state":"verified",`), trust(key), []string{altered, notOurs}},
		"another deployment": {data, alien, []string{
			"deployment: the receipt is of " + r.Deployment.String() + ", it should be of " + alien.Deployment.String()}},
	} {
		require.Equal(t, c.want, problems(t, c.data, c.trust), name)
	}
	require.Empty(t, problems(t, data, receipt.Trust{Keys: trust(key).Keys, Deployment: r.Deployment}))
}

// Whoever must have signed has, or the receipt is not valid; who else has is listed.
func TestCountersignatures(t *testing.T) {
	key, auditor, stranger := signingKey(1), signingKey(2), signingKey(3)
	d, err := receipt.Sign(verifiedReceipt(t, lethe.ScopeStubs), key)
	require.NoError(t, err)
	require.NoError(t, d.Countersign(auditor))
	require.ErrorIs(t, d.Countersign(key), receipt.ErrSigned)
	data, err := d.Encode()
	require.NoError(t, err)
	require.Empty(t, problems(t, data, trust(key)))
	require.Empty(t, problems(t, data, trust(auditor)))
	require.Empty(t, problems(t, data, trust(key, auditor)))
	require.Len(t, problems(t, data, trust(key, stranger)), 1)
	_, v, err := receipt.Verify(data, trust(key))
	require.NoError(t, err)
	require.Equal(t, []receipt.SignatureCheck{
		{KeyID: receipt.KeyID(public(key)), Known: true, Valid: true}, {KeyID: receipt.KeyID(public(auditor))},
	}, v.Signatures)
}

// A key that was replaced counts as the one that has replaced it, and as no other.
func TestReceiptsOfAFormerKeyAreValid(t *testing.T) {
	now, former, auditor := signingKey(1), signingKey(2), signingKey(3)
	for name, data := range map[string][]byte{
		"receipt": signed(t, verifiedReceipt(t, lethe.ScopeStubs), former),
	} {
		rotated := receipt.Trust{
			Keys: []ed25519.PublicKey{public(auditor)}, Former: []ed25519.PublicKey{public(now), public(former)},
		}
		require.Empty(t, problems(t, data, rotated), name)
		_, v, err := receipt.Verify(data, rotated)
		require.NoError(t, err)
		require.True(t, v.TrustedKey)
		rotated.Keys = append(rotated.Keys, public(signingKey(4)))
		require.Len(t, problems(t, data, rotated), 1, name)
		require.Len(t, problems(t, data, receipt.Trust{Former: rotated.Former}), 1, "no key must have signed")
	}
	altered := bytes.Replace(signed(t, verifiedReceipt(t, lethe.ScopeStubs), former), []byte(`"signature":"`),
		[]byte(`"signature":"A`), 1)
	require.NotEmpty(t, problems(t, altered, receipt.Trust{
		Keys: []ed25519.PublicKey{public(auditor)}, Former: []ed25519.PublicKey{public(former)},
	}))
}

// What a log says of the receipt comes later, and no signature is over it.
func TestTheLogIsNotSigned(t *testing.T) {
	key := signingKey(1)
	d, err := receipt.Sign(verifiedReceipt(t, lethe.ScopeStubs), key)
	require.NoError(t, err)
	d.Log = "a proof\n"
	data, err := d.Encode()
	require.NoError(t, err)
	require.Empty(t, problems(t, data, trust(key)))
	back, err := receipt.Decode(data)
	require.NoError(t, err)
	require.Equal(t, d, back)

	_, err = receipt.Decode(bytes.Replace(data, []byte(`"a proof\n"`), []byte("7"), 1))
	require.ErrorIs(t, err, deletions.ErrFormat)
}

func TestEveryChangedByteIsRefused(t *testing.T) {
	key := signingKey(1)
	for name, data := range map[string][]byte{
		"receipt": signed(t, verifiedReceipt(t, lethe.ScopeStubs), key),
	} {
		step := 5
		if testing.Short() {
			step = 50
		}
		for i := 0; i < len(data); i += step {
			for _, mask := range []byte{0x01, 0x20, 0x80} {
				changed := bytes.Clone(data)
				changed[i] ^= mask
				_, v, err := receipt.Verify(changed, trust(key))
				require.True(t, err != nil || !v.Valid, "%s: byte %d (%q) changed to %q", name, i, data[i], changed[i])
			}
			_, v, err := receipt.Verify(data[:i], trust(key))
			require.True(t, err != nil || !v.Valid, "%s: cut to %d bytes", name, i)
		}
	}
}

func TestWhatIsNoReceipt(t *testing.T) {
	data := string(signed(t, verifiedReceipt(t, lethe.ScopeStubs), signingKey(1)))
	require.Contains(t, data, `"signatures":[{`)
	for name, text := range map[string]string{
		"nothing":                  "",
		"a list":                   "[]",
		"an empty object":          "{}",
		"a format to come":         `{"format":"lethe-receipt/9"}`,
		"a format of before":       `{"format":"lethe-receipt/1"}`,
		"two documents":            data + data,
		"a doubled payload":        strings.Replace(data, `{`, `{"payload":"",`, 1),
		"a payload misspelt":       strings.Replace(data, `"payload"`, `"Payload"`, 1),
		"a signature that is none": `{"payload":"","signatures":[1]}`,
		"more than any has":        data + strings.Repeat(" ", receipt.MaxBytes),
		"another payload beside":   strings.Replace(data, `{`, `{"Payload":"",`, 1),
		"what nobody signs":        strings.Replace(data, `{`, `{"comment":"",`, 1),
		"nobody's member":          strings.Replace(data, `"signatures":[{`, `"signatures":[{"by":"",`, 1),
		"deep":                     `{"a":` + strings.Repeat("[", 200) + strings.Repeat("]", 200) + "," + data[1:],
		"an unprotected header": strings.Replace(data, `"signatures":[{`,
			`"signatures":[{"header":{"crit":["b64"],"b64":false},`, 1),
		"too many signatures": `{"payload":"","signatures":[` + strings.Repeat("{},", 16) + "{}]}",
	} {
		_, v, err := receipt.Verify([]byte(text), trust(signingKey(1)))
		require.ErrorIs(t, err, deletions.ErrFormat, name)
		require.False(t, v.Valid)
	}
}
