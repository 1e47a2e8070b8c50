// Package kmstest is a key management system for tests.
package kmstest

import (
	"crypto/aes"
	"crypto/cipher"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
)

// Fake answers like Vault's transit engine, according to its API documentation and Vault 1.x.
type Fake struct {
	// URL is the address of the fake.
	URL    string
	token  atomic.Value
	sealed atomic.Bool
	asked  atomic.Int64
	aead   cipher.AEAD
}

// Seal makes it answer like a sealed or an unsealed Vault.
func (f *Fake) Seal(sealed bool) { f.sealed.Store(sealed) }

// TakeToken changes the accepted token.
func (f *Fake) TakeToken(token string) { f.token.Store(token) }

// Asked counts the requests.
func (f *Fake) Asked() int64 { return f.asked.Load() }

// New starts a fake that accepts a token. It stops when the test ends.
func New(t testing.TB, token string) *Fake {
	block, err := aes.NewCipher([]byte("0123456789abcdef"))
	require.NoError(t, err)
	aead, err := cipher.NewGCM(block)
	require.NoError(t, err)
	f := &Fake{aead: aead}
	f.TakeToken(token)
	server := httptest.NewServer(f)
	t.Cleanup(server.Close)
	f.URL = server.URL
	return f
}

func respond(w http.ResponseWriter, status int, what any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(what)
}

// ServeHTTP implements http.Handler.
func (f *Fake) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	n := f.asked.Add(1)
	wrong := func(status int, why string) { respond(w, status, map[string][]string{"errors": {why}}) }
	var body map[string]string
	parts := strings.Split(strings.TrimPrefix(r.URL.Path, "/v1/"), "/")
	switch {
	case f.sealed.Load():
		wrong(http.StatusServiceUnavailable, "Vault is sealed")
	case r.Header.Get("X-Vault-Token") != f.token.Load():
		wrong(http.StatusForbidden, "permission denied")
	case len(parts) != 3 || parts[0] != "transit":
		wrong(http.StatusNotFound, `no handler for route "`+parts[0]+`/". route entry not found.`)
	case r.Method != http.MethodPost:
		wrong(http.StatusMethodNotAllowed, "unsupported operation")
	case json.NewDecoder(r.Body).Decode(&body) != nil:
		wrong(http.StatusBadRequest, "failed to parse JSON input")
	case parts[2] != "lethe":
		wrong(http.StatusBadRequest, "encryption key not found")
	case parts[1] == "encrypt":
		plain, err := base64.StdEncoding.DecodeString(body["plaintext"])
		if err != nil {
			wrong(http.StatusBadRequest, "failed to base64-decode plaintext")
			return
		}
		nonce := []byte("nonce-------")
		nonce[11] = byte(n)
		sealed := f.aead.Seal(nonce, nonce, plain, nil)
		respond(w, http.StatusOK, map[string]any{"data": map[string]any{
			"ciphertext": "vault:v1:" + base64.StdEncoding.EncodeToString(sealed), "key_version": 1,
		}})
	case parts[1] == "decrypt":
		sealed, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(body["ciphertext"], "vault:v1:"))
		var plain []byte
		if err == nil && len(sealed) > 12 {
			plain, err = f.aead.Open(nil, sealed[:12], sealed[12:], nil)
		}
		if err != nil || plain == nil {
			wrong(http.StatusBadRequest, "cipher: message authentication failed")
			return
		}
		data := map[string]any{"plaintext": base64.StdEncoding.EncodeToString(plain)}
		respond(w, http.StatusOK, map[string]any{"data": data})
	default:
		wrong(http.StatusNotFound, "unsupported path")
	}
}
