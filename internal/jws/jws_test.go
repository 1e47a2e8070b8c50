package jws_test

import (
	"crypto/ed25519"
	"encoding/hex"
	"testing"

	"github.com/stretchr/testify/require"

	"lethe/internal/jws"
)

// keyOfTheRFC is that of RFC 8037, appendix A.1.
func keyOfTheRFC(t *testing.T) ed25519.PrivateKey {
	seed, err := jws.Decode("nWGxne_9WmC6hEr0kuwsxERJxWl7MmkZcDusAxyuf2A")
	require.NoError(t, err)
	key := ed25519.NewKeyFromSeed(seed)
	require.Equal(t, "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a",
		hex.EncodeToString(key.Public().(ed25519.PublicKey)))
	return key
}

// RFC 8037, appendix A.3.
func TestThumbprintOfTheRFC(t *testing.T) {
	require.Equal(t, "kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k",
		jws.Thumbprint(keyOfTheRFC(t).Public().(ed25519.PublicKey)))
}

// RFC 8037, appendix A.4 and A.5: its header names no key.
func TestSignatureOfTheRFC(t *testing.T) {
	public := keyOfTheRFC(t).Public().(ed25519.PublicKey)
	s := jws.Signature{Protected: "eyJhbGciOiJFZERTQSJ9",
		Value: "hgyY0il_MGCjP0JzlnLWG1PPOt7-09PGcvMg3AIbQR6dWbhijcNR4ki4iylGjg5BhVsPt9g7sVvpAr_MuM0KAg"}
	const payload = "RXhhbXBsZSBvZiBFZDI1NTE5IHNpZ25pbmc"
	require.True(t, s.Verify(payload, public))
	require.False(t, s.Verify(payload+"A", public))
	h, err := s.Header()
	require.NoError(t, err)
	require.Equal(t, jws.Header{Algorithm: "EdDSA"}, h)
}

func TestSignAndVerify(t *testing.T) {
	key := keyOfTheRFC(t)
	public := key.Public().(ed25519.PublicKey)
	payload := jws.Encode([]byte(`{"a":1}`))
	s, err := jws.Sign(payload, "thing.v1+jws", key)
	require.NoError(t, err)
	h, err := s.Header()
	require.NoError(t, err)
	require.Equal(t, jws.Header{Algorithm: jws.Algorithm, KeyID: jws.Thumbprint(public), Type: "thing.v1+jws"}, h)
	require.True(t, s.Verify(payload, public))
	require.False(t, s.Verify(payload, public[:31]), "a key that is none")
	for name, altered := range map[string]jws.Signature{
		"another header": {Protected: jws.Encode([]byte(`{}`)), Value: s.Value},
		"none":           {Protected: s.Protected},
		"padding":        {Protected: s.Protected, Value: s.Value + "=="},
		"a line break":   {Protected: s.Protected, Value: s.Value[:10] + "\n" + s.Value[10:]},
		"cut":            {Protected: s.Protected, Value: s.Value[:40]},
	} {
		require.False(t, altered.Verify(payload, public), name)
	}
	_, err = jws.Sign(payload, "thing.v1+jws", key[:10])
	require.ErrorContains(t, err, "10 bytes")
}

func TestHeadersThatAreRefused(t *testing.T) {
	for name, header := range map[string]string{
		"critical":   `{"alg":"EdDSA","crit":["b64"],"b64":false}`,
		"doubled":    `{"alg":"EdDSA","alg":"none"}`,
		"no object":  `["EdDSA"]`,
		"null":       `null`,
		"no string":  `{"alg":1}`,
		"not a text": "\xff",
		"negative":   `{"alg":"EdDSA","iat":-1}`,
		"year 10000": `{"alg":"EdDSA","exp":253402300800}`,
		"overflow":   `{"alg":"EdDSA","iat":9223372036854775807}`,
	} {
		_, err := jws.Signature{Protected: jws.Encode([]byte(header))}.Header()
		require.ErrorIs(t, err, jws.ErrHeader, name)
	}
	_, err := jws.Signature{Protected: "e30="}.Header()
	require.ErrorIs(t, err, jws.ErrHeader)
	// Another spelling of a member is another member.
	h, err := jws.Signature{Protected: jws.Encode([]byte(`{"ALG":"EdDSA","iat":7}`))}.Header()
	require.NoError(t, err)
	require.Empty(t, h.Algorithm)
}
