package jws

import (
	"crypto"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"

	"lethe/internal/jcs"
)

// Algorithm is the only supported algorithm (RFC 8037, section 3.1).
const Algorithm = "EdDSA"

// latest is the last supported Unix time in seconds: the end of year 9999.
const latest = 253402300799

// ErrHeader rejects a protected header that is not a JSON object, or that has critical extensions
// (crit). The caller must not trust the signature.
var ErrHeader = errors.New("protected header refused")

// Header is the protected header of a signature.
type Header struct {
	Algorithm string `json:"alg"`
	// KeyID is the Thumbprint of the key.
	KeyID string `json:"kid"`
	// Type is the media type of the signed content.
	Type string `json:"typ"`
	// The following are claims of RFC 7519, which a header may have (section 5.3): audience and
	// subject of the signature, and its times in Unix seconds. They are empty or 0 if absent.
	Audience string `json:"aud,omitempty"`
	Subject  string `json:"sub,omitempty"`
	IssuedAt int64  `json:"iat,omitempty"`
	Expires  int64  `json:"exp,omitempty"`
}

// Signature is one signature of a payload.
type Signature struct {
	// Protected is the header as base64url of JSON, which is signed with the payload.
	Protected string `json:"protected"`
	// Value is the signature as base64url.
	Value string `json:"signature"`
}

// Encode encodes as base64url without padding (RFC 7515, section 2).
func Encode(data []byte) string { return base64.RawURLEncoding.EncodeToString(data) }

// Decode accepts only the output of Encode: no padding, no line break, no trailing bits.
func Decode(text string) ([]byte, error) {
	out, err := base64.RawURLEncoding.DecodeString(text)
	if err != nil || Encode(out) != text {
		return nil, errors.New("not base64url without padding")
	}
	return out, nil
}

// Thumbprint identifies a public key: the SHA-256 of its required members as a JSON web key (RFC
// 7638 and RFC 8037, appendix A.3), in base64url.
func Thumbprint(key ed25519.PublicKey) string {
	sum := sha256.Sum256(fmt.Appendf(nil, `{"crv":"Ed25519","kty":"OKP","x":"%s"}`, Encode(key)))
	return Encode(sum[:])
}

// Sign signs a payload, given as base64url, of a media type. The key is an Ed25519 key, local or
// in a KMS.
func Sign(payload, mediaType string, key crypto.Signer) (Signature, error) {
	return SignAs(payload, Header{Type: mediaType}, key)
}

// SignAs is Sign with further header fields. It sets algorithm and key id.
func SignAs(payload string, h Header, key crypto.Signer) (Signature, error) {
	public, ok := PublicOf(key)
	if private, here := key.(ed25519.PrivateKey); here && !ok {
		return Signature{}, fmt.Errorf("signing key has %d bytes, want %d", len(private), ed25519.PrivateKeySize)
	}
	if !ok {
		return Signature{}, errors.New("the signing key is no Ed25519 key")
	}
	h.Algorithm, h.KeyID = Algorithm, Thumbprint(public)
	header, err := jcs.Encode(h)
	if err != nil {
		return Signature{}, err
	}
	s := Signature{Protected: Encode(header)}
	value, err := key.Sign(nil, s.input(payload), crypto.Hash(0))
	if err != nil {
		return Signature{}, fmt.Errorf("sign: %w", err)
	}
	s.Value = Encode(value)
	return s, nil
}

// PublicOf returns the public key of an Ed25519 key.
func PublicOf(key crypto.Signer) (ed25519.PublicKey, bool) {
	if private, here := key.(ed25519.PrivateKey); key == nil || here && len(private) != ed25519.PrivateKeySize {
		return nil, false
	}
	public, ok := key.Public().(ed25519.PublicKey)
	return public, ok && len(public) == ed25519.PublicKeySize
}

// input is the signed text (RFC 7515, section 5.1).
func (s Signature) input(payload string) []byte { return []byte(s.Protected + "." + payload) }

// Header reads the protected header without verifying it. Unknown members are ignored, as section
// 4 requires. Errors: ErrHeader.
func (s Signature) Header() (h Header, err error) {
	text, err := Decode(s.Protected)
	if err != nil {
		return h, fmt.Errorf("%w: %w", ErrHeader, err)
	}
	// Programs differ in how they read repeated members.
	if _, err := jcs.Transform(text); err != nil {
		return h, fmt.Errorf("%w: %w", ErrHeader, err)
	}
	var members map[string]json.RawMessage
	if err := json.Unmarshal(text, &members); err != nil || members == nil {
		return h, fmt.Errorf("%w: not a JSON object", ErrHeader)
	}
	if _, has := members["crit"]; has {
		return h, fmt.Errorf("%w: it has a member crit, and none that is critical is known", ErrHeader)
	}
	for name, into := range map[string]*string{
		"alg": &h.Algorithm, "kid": &h.KeyID, "typ": &h.Type, "aud": &h.Audience, "sub": &h.Subject,
	} {
		if value, has := members[name]; has && json.Unmarshal(value, into) != nil {
			return h, fmt.Errorf("%w: %s is no string", ErrHeader, name)
		}
	}
	for name, into := range map[string]*int64{"iat": &h.IssuedAt, "exp": &h.Expires} {
		if value, has := members[name]; has && (json.Unmarshal(value, into) != nil || *into <= 0 || *into > latest) {
			return h, fmt.Errorf("%w: %s is no whole number of seconds up to the year 9999", ErrHeader, name)
		}
	}
	return h, nil
}

// Verify reports whether the signature is the key's, for this payload in base64url. The caller
// must check the header.
func (s Signature) Verify(payload string, key ed25519.PublicKey) bool {
	value, err := Decode(s.Value)
	return err == nil && len(key) == ed25519.PublicKeySize && ed25519.Verify(key, s.input(payload), value)
}
