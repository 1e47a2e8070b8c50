package sso_test

import (
	"crypto/rand"
	"crypto/rsa"
	"encoding/base64"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/stretchr/testify/require"

	"lethe/service/guard"
	"lethe/service/guard/sso"
)

// now is the clock of the tests.
func now() time.Time { return time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC) }

// issuer is an OpenID Connect issuer as far as those who check its tokens know it.
type issuer struct {
	t   *testing.T
	url string
	key *rsa.PrivateKey
	// away has it answer nothing.
	away bool
	// asked counts how often it was asked for its keys.
	asked atomic.Int32
}

func newIssuer(t *testing.T) *issuer {
	t.Helper()
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	require.NoError(t, err)
	i := &issuer{t: t, key: key}
	mux := http.NewServeMux()
	answer := func(w http.ResponseWriter, value any) {
		if i.away {
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		json.NewEncoder(w).Encode(value)
	}
	mux.HandleFunc("/.well-known/openid-configuration", func(w http.ResponseWriter, _ *http.Request) {
		answer(w, map[string]any{
			"issuer": i.url, "jwks_uri": i.url + "/keys", "authorization_endpoint": i.url + "/auth",
			"token_endpoint": i.url + "/token",
			// What the issuer says it can is not believed.
			"id_token_signing_alg_values_supported": []string{"RS256", "HS256", "none"},
		})
	})
	mux.HandleFunc("/keys", func(w http.ResponseWriter, _ *http.Request) {
		i.asked.Add(1)
		own := jose.JSONWebKey{Key: key.Public(), KeyID: "1", Algorithm: "RS256", Use: "sig"}
		answer(w, jose.JSONWebKeySet{Keys: []jose.JSONWebKey{own}})
	})
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	i.url = server.URL
	return i
}

// claims are those of a token that gets in.
func (i *issuer) claims() map[string]any {
	return map[string]any{
		"iss": i.url, "aud": []string{"other", "lethe"}, "sub": "anna", "iat": now().Unix(),
		"exp": now().Add(time.Hour).Unix(), "realm_access": map[string]any{"roles": []string{"fraud-desk", "unmapped"}},
	}
}

func (i *issuer) sign(claims map[string]any, algorithm jose.SignatureAlgorithm, key any) string {
	i.t.Helper()
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: algorithm, Key: key},
		(&jose.SignerOptions{}).WithHeader("kid", "1").WithType("JWT"))
	require.NoError(i.t, err)
	text, err := json.Marshal(claims)
	require.NoError(i.t, err)
	signed, err := signer.Sign(text)
	require.NoError(i.t, err)
	token, err := signed.CompactSerialize()
	require.NoError(i.t, err)
	return token
}

func (i *issuer) verifier() *sso.Verifier {
	i.t.Helper()
	v, err := sso.New(sso.Options{
		Issuer: i.url, Audience: "lethe", RolesClaim: "realm_access.roles", Now: now,
		Roles: []string{"fraud-desk=analyst", "privacy=compliance"},
	})
	require.NoError(i.t, err)
	return v
}

// Who has a token of the issuer for this deployment may do what his roles say; every other token is
// refused.
func TestTokensOfAnIssuer(t *testing.T) {
	i := newIssuer(t)
	v := i.verifier()
	p, err := v.Verify(t.Context(), i.sign(i.claims(), jose.RS256, i.key))
	require.NoError(t, err)
	require.Equal(t, "anna", p.Name)
	require.True(t, p.May(guard.Investigate))
	require.False(t, p.May(guard.Erase))

	without := i.claims()
	delete(without, "realm_access")
	p, err = v.Verify(t.Context(), i.sign(without, jose.RS256, i.key))
	require.NoError(t, err)
	require.False(t, p.May(guard.Read), "without a role nothing is allowed")

	other, err := rsa.GenerateKey(rand.Reader, 2048)
	require.NoError(t, err)
	changed := func(name string, value any) map[string]any {
		claims := i.claims()
		claims[name] = value
		return claims
	}
	unsigned := base64.RawURLEncoding.EncodeToString([]byte(`{"alg":"none","typ":"JWT"}`)) + "."
	text, err := json.Marshal(i.claims())
	require.NoError(t, err)
	unsigned += base64.RawURLEncoding.EncodeToString(text) + "."
	for name, c := range map[string]struct {
		token string
		want  error
	}{
		"expired":         {i.sign(changed("exp", now().Add(-time.Minute).Unix()), jose.RS256, i.key), guard.ErrExpired},
		"wrong audience":  {i.sign(changed("aud", "other"), jose.RS256, i.key), guard.ErrUnknown},
		"wrong issuer":    {i.sign(changed("iss", "https://evil.example"), jose.RS256, i.key), guard.ErrUnknown},
		"not yet":         {i.sign(changed("nbf", now().Add(time.Hour).Unix()), jose.RS256, i.key), guard.ErrUnknown},
		"none":            {unsigned, guard.ErrUnknown},
		"another's key":   {i.sign(i.claims(), jose.RS256, other), guard.ErrUnknown},
		"a shared secret": {i.sign(i.claims(), jose.HS256, i.key.N.Bytes()), guard.ErrUnknown},
		"no token":        {"lethe", guard.ErrUnknown},
		"empty":           {"", guard.ErrUnknown},
		"changed payload": {i.sign(i.claims(), jose.RS256, i.key) + "x", guard.ErrUnknown},
	} {
		// One of its own each: an issuer that was asked a moment ago is not asked again.
		_, err := i.verifier().Verify(t.Context(), c.token)
		require.ErrorIs(t, err, c.want, name)
	}
}

// An issuer that is away refuses nobody for good, and is not asked by every request.
func TestAnIssuerThatIsAway(t *testing.T) {
	i := newIssuer(t)
	i.away = true
	at := now()
	v, err := sso.New(sso.Options{
		Issuer: i.url, Audience: "lethe", RolesClaim: "realm_access.roles", Roles: []string{"fraud-desk=analyst"},
		Now: func() time.Time { return at },
	})
	require.NoError(t, err)
	token := i.sign(i.claims(), jose.RS256, i.key)
	_, err = v.Verify(t.Context(), token)
	require.ErrorIs(t, err, guard.ErrAway)
	i.away = false
	_, err = v.Verify(t.Context(), token)
	require.ErrorIs(t, err, guard.ErrAway, "asked again only after a while")
	at = at.Add(time.Minute)
	_, err = v.Verify(t.Context(), token)
	require.NoError(t, err)
}

// Tokens that name keys which nobody knows, as anybody can make them, have the issuer asked once in a while, and keep
// nobody out.
func TestUnknownKeysAskTheIssuerSeldom(t *testing.T) {
	i := newIssuer(t)
	at := now()
	v, err := sso.New(sso.Options{
		Issuer: i.url, Audience: "lethe", RolesClaim: "realm_access.roles", Roles: []string{"fraud-desk=analyst"},
		Now: func() time.Time { return at },
	})
	require.NoError(t, err)
	other, err := rsa.GenerateKey(rand.Reader, 2048)
	require.NoError(t, err)
	forged := i.sign(i.claims(), jose.RS256, other)
	// A request may still join the one before it and share its answer, so that a change shows a moment later.
	answers := func(want error, why string) {
		t.Helper()
		require.Eventually(t, func() bool {
			_, err := v.Verify(t.Context(), forged)
			return errors.Is(err, want)
		}, 10*time.Second, time.Millisecond, why)
	}
	answers(guard.ErrUnknown, "the issuer does not have that key")
	answers(guard.ErrSeldom, "nobody has looked whether the key is new")
	for range 50 {
		_, err := v.Verify(t.Context(), forged)
		require.ErrorIs(t, err, guard.ErrSeldom)
	}
	require.Equal(t, int32(1), i.asked.Load())
	_, err = v.Verify(t.Context(), i.sign(i.claims(), jose.RS256, i.key))
	require.NoError(t, err)
	at = at.Add(time.Minute)
	answers(guard.ErrUnknown, "after a while it is asked again")
	require.Equal(t, int32(2), i.asked.Load(), "a new key of the issuer is found")
}

// What is no mapping, or no role, is refused at the start.
func TestRolesAreMapped(t *testing.T) {
	for _, wrong := range []string{"desk", "=analyst", "desk=emperor"} {
		_, err := sso.New(sso.Options{Roles: []string{wrong}})
		require.ErrorContains(t, err, "http.oidc.roles", wrong)
	}
	_, err := sso.New(sso.Options{CAFile: "/nowhere"})
	require.ErrorContains(t, err, "http.oidc.ca_file")
}
