package configs_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"lethe/configs"
	"lethe/scoring/ensemble"
	"lethe/trainer"
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

// What the section trainer says of a network holds for those of a stack; its other
// components have their own defaults and what stands behind their names.
func TestTheNetworksOfAStackAreThoseOfTheSection(t *testing.T) {
	c := configs.Default()
	c.Seed, c.Partition.Shards = 7, 6
	c.Trainer.Hidden, c.Trainer.Passes = 16, 2
	c.Trainer.Model = configs.Stack
	c.Trainer.Components = []string{"elliptic-gin", "elliptic-gin:3:passes=1", "trees:2:leaves=5"}
	c.Scoring.Aggregation = "stack"
	require.NoError(t, c.Validate())
	l, err := c.Layout()
	require.NoError(t, err)
	require.Equal(t, []int{6, 3, 2}, []int{l.Components[0].Groups, l.Components[1].Groups, l.Components[2].Groups})

	want := trainer.DefaultsOf("elliptic-gin")
	want.Hidden, want.Passes, want.Seed = 16, 2, 7
	require.Equal(t, want, l.Components[0].Config)
	require.Equal(t, "elliptic-gin", l.Components[1].Config.Model)
	require.Equal(t, 16, l.Components[1].Config.Hidden)
	require.Equal(t, 1, l.Components[1].Config.Passes)
	want = ensemble.ComponentDefaults(trainer.Trees, trainer.Defaults())
	want.Trees.MaxLeaves, want.Seed = 5, 7
	require.Equal(t, want, l.Components[2].Config)

	c.Trainer.Hidden = 1
	require.ErrorContains(t, c.Validate(), "trainer.hidden is 1")
	c.Trainer.Hidden, c.Trainer.Components = 16, []string{"sage:2"}
	require.ErrorContains(t, c.Validate(), "want MODEL:GROUPS with one of the models elliptic-gin, trees, logistic")
}
