package configs_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"lethe/configs"
)

// Who may be reached by others has to know who asks, over a connection that nobody reads.
func TestAnAddressBeyondThisMachineNeedsTLSAndTokens(t *testing.T) {
	const refusal = "http.address"
	for _, address := range []string{"0.0.0.0:8080", ":8080", "[::]:8080", "192.0.2.7:8080", "lethe.example:8080"} {
		of := func(change func(*configs.HTTP)) error {
			c := configs.Default()
			c.HTTP.Address = address
			change(&c.HTTP)
			return c.Validate()
		}
		tls := func(h *configs.HTTP) { h.TLS.CertificateFile, h.TLS.KeyFile = "cert.pem", "key.pem" }
		tokens := func(h *configs.HTTP) { h.TokensFile = "tokens.json" }
		require.ErrorContains(t, of(func(*configs.HTTP) {}), refusal, address)
		require.ErrorContains(t, of(tokens), refusal, address)
		require.NoError(t, of(func(h *configs.HTTP) { tls(h); tokens(h) }), address)
		require.NoError(t, of(func(h *configs.HTTP) { h.Insecure = true }), address)
	}
	for _, address := range []string{"127.0.0.1:8080", "[::1]:8080", "localhost:8080"} {
		c := configs.Default()
		c.HTTP.Address = address
		require.NoError(t, c.Validate(), address)
	}
}

// An image listens on all addresses as it is built: published to a network it lets nobody in without a login.
func TestAnAddressBeyondThisMachineNeedsALogin(t *testing.T) {
	at := configs.HTTP{Address: "0.0.0.0:8080", Insecure: true}
	for _, part := range []string{"http.tokens_file", "http.oidc.issuer", "127.0.0.1", "http.without_login=true"} {
		require.ErrorContains(t, at.CheckLogin(), part)
	}
	for name, change := range map[string]func(*configs.HTTP){
		"tokens":   func(h *configs.HTTP) { h.TokensFile = "tokens" },
		"issuer":   func(h *configs.HTTP) { h.OIDC.Issuer = "https://issuer.example" },
		"local":    func(h *configs.HTTP) { h.Address = "127.0.0.1:8080" },
		"allowed":  func(h *configs.HTTP) { h.WithoutLogin = true },
		"loopback": func(h *configs.HTTP) { h.Address = "[::1]:8080" },
	} {
		h := at
		change(&h)
		require.NoError(t, h.CheckLogin(), name)
	}
}
