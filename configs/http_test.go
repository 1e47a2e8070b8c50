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
		require.ErrorContains(t, of(tls), refusal, address)
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
