package kms_test

import (
	"context"
	"encoding/base64"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lethe/internal/kms"
	"lethe/internal/kms/kmstest"
)

// config is one with a token in a file.
func config(t *testing.T, address, token string) kms.Config {
	c := kms.Defaults()
	c.Address, c.TokenFile = address, filepath.Join(t.TempDir(), "token")
	require.NoError(t, os.WriteFile(c.TokenFile, []byte(token+"\n"), 0o600))
	require.NoError(t, c.Validate())
	return c
}

func open(t *testing.T, c kms.Config) kms.Keeper {
	k, err := c.Open()
	require.NoError(t, err)
	return k
}

func TestWhatIsSealedIsUnsealed(t *testing.T) {
	sealsAndUnseals(t, config(t, kmstest.New(t, "s.right").URL, "s.right"))
}

func sealsAndUnseals(t *testing.T, c kms.Config) {
	t.Helper()
	k := open(t, c)
	plain := []byte("what nobody else may read\n")
	sealed, err := k.Seal(t.Context(), plain)
	require.NoError(t, err)
	require.True(t, kms.IsSealed([]byte(sealed)))
	require.NotContains(t, sealed, base64.StdEncoding.EncodeToString(plain)[:16])
	again, err := k.Unseal(t.Context(), sealed+"\n")
	require.NoError(t, err)
	require.Equal(t, plain, again)
	other, err := k.Seal(t.Context(), plain)
	require.NoError(t, err)
	require.NotEqual(t, sealed, other)
	_, err = k.Unseal(t.Context(), sealed[:len(sealed)-6]+"AAAA==")
	require.ErrorIs(t, err, kms.ErrRefused, "it was altered")
}

// What an operator has to put right is told from what passes by itself, in one line without a secret.
func TestWhatPassesAndWhatDoesNot(t *testing.T) {
	f := kmstest.New(t, "s.right")
	right := config(t, f.URL, "s.right")
	for name, c := range map[string]struct {
		change func(*kms.Config)
		kind   error
		want   string
	}{
		"token": {func(c *kms.Config) { c.TokenFile = config(t, f.URL, "s.stolen").TokenFile }, kms.ErrRefused,
			"answers 403 to encrypt: permission denied (the token needs update on transit/encrypt/lethe"},
		"token of all": {func(c *kms.Config) {
			c.TokenFile = config(t, f.URL, "s.right").TokenFile
			require.NoError(t, os.Chmod(c.TokenFile, 0o644))
		}, kms.ErrRefused, "mode 0644 lets everybody read it"},
		"no token": {func(c *kms.Config) { c.TokenFile += ".gone" }, kms.ErrRefused, "kms.token_file: open "},
		"mount": {func(c *kms.Config) { c.Mount = "elsewhere" }, kms.ErrRefused,
			"answers 404 to encrypt: no handler for route"},
		"key":    {func(c *kms.Config) { c.Key = "other" }, kms.ErrRefused, "encryption key not found (is kms.key the key"},
		"nobody": {func(c *kms.Config) { c.Address = "http://127.0.0.1:1" }, kms.ErrAway, "connection refused"},
		"not ours": {func(c *kms.Config) {
			page := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				_, _ = w.Write([]byte("<html>"))
			}))
			t.Cleanup(page.Close)
			c.Address = page.URL
		}, kms.ErrRefused, "something else than JSON"},
		"elsewhere": {func(c *kms.Config) {
			page := httptest.NewServer(http.RedirectHandler(f.URL, http.StatusTemporaryRedirect))
			t.Cleanup(page.Close)
			c.Address = page.URL
		}, kms.ErrRefused, "answers 307"},
		"certificate": {func(c *kms.Config) {
			secured := httptest.NewTLSServer(f)
			t.Cleanup(secured.Close)
			c.Address = secured.URL
		}, kms.ErrRefused, "kms.ca_file names its authority"},
	} {
		changed := right
		c.change(&changed)
		_, err := open(t, changed).Seal(t.Context(), []byte("secret"))
		require.ErrorIs(t, err, c.kind, name)
		require.ErrorContains(t, err, c.want, name)
		require.NotContains(t, err.Error(), "s.right")
		require.NotContains(t, err.Error(), "\n", name)
	}
	k := open(t, right)
	sealed, err := k.Seal(t.Context(), []byte("secret"))
	require.NoError(t, err)
	f.Seal(true)
	_, err = k.Unseal(t.Context(), sealed)
	require.ErrorIs(t, err, kms.ErrAway)
	require.ErrorContains(t, err, "answers 503 to decrypt: Vault is sealed")
	f.Seal(false)
	f.TakeToken("s.renewed")
	_, err = k.Unseal(t.Context(), sealed)
	require.ErrorIs(t, err, kms.ErrRefused)
	require.NoError(t, os.WriteFile(right.TokenFile, []byte("s.renewed"), 0o600))
	plain, err := k.Unseal(t.Context(), sealed)
	require.NoError(t, err, "the token is read anew")
	require.Equal(t, "secret", string(plain))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = k.Unseal(ctx, sealed)
	require.ErrorIs(t, err, context.Canceled)
}

func TestConfigurationsOfKeepers(t *testing.T) {
	k, err := kms.Defaults().Open()
	require.NoError(t, err)
	require.Nil(t, k)
	bad := kms.Config{Address: "vault:8200", Mount: "/transit", Key: "a/b"}
	err = bad.Validate()
	for _, want := range []string{"address", "mount", "key", "token_file"} {
		require.ErrorContains(t, err, want)
	}
	require.Error(t, kms.Config{TokenFile: "token"}.Validate())
	good := kms.Config{Mount: "transit", Key: "lethe", TokenFile: "token"}
	for address, ok := range map[string]bool{
		"https://vault.example:8200": true, "http://127.0.0.1:8200": true, "http://localhost": true,
		"http://[::1]:8200": true,
		"http://vault:8200": false, "http://10.0.0.1:8200": false, "http://127.0.0.1.example:8200": false,
	} {
		good.Address = address
		require.Equal(t, ok, good.Validate() == nil, address)
	}
}

// A real server answers as the fake does. It is asked where LETHE_VAULT names a program, or vault or bao
// (OpenBao) is found: both have a development server with everything in memory.
func TestARealServerSealsAndUnseals(t *testing.T) {
	program := os.Getenv("LETHE_VAULT")
	for _, name := range []string{"vault", "bao"} {
		if found, err := exec.LookPath(name); err == nil && program == "" {
			program = found
		}
	}
	if program == "" {
		t.Skip("no Vault: install vault or bao (OpenBao), or name one with LETHE_VAULT")
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	address := listener.Addr().String()
	require.NoError(t, listener.Close())
	server := exec.CommandContext(t.Context(), program, "server", "-dev", "-dev-root-token-id=root",
		"-dev-listen-address="+address, "-dev-no-store-token")
	server.Env = append(os.Environ(), "HOME="+t.TempDir())
	require.NoError(t, server.Start())
	t.Cleanup(func() {
		_ = server.Process.Kill()
		_ = server.Wait()
	})
	ask := func(path, body string) int {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://"+address+path,
			strings.NewReader(body))
		require.NoError(t, err)
		request.Header.Set("X-Vault-Token", "root")
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			return 0
		}
		defer response.Body.Close()
		return response.StatusCode
	}
	require.Eventually(t, func() bool {
		return ask("/v1/sys/mounts/transit", `{"type":"transit"}`) == http.StatusNoContent
	}, time.Minute, 100*time.Millisecond)
	require.Less(t, ask("/v1/transit/keys/lethe", `{}`), 300)

	c := config(t, "http://"+address, "root")
	sealsAndUnseals(t, c)
	for name, change := range map[string]func(*kms.Config){
		"token": func(c *kms.Config) { c.TokenFile = config(t, c.Address, "s.stolen").TokenFile },
		"mount": func(c *kms.Config) { c.Mount = "elsewhere" },
		"key":   func(c *kms.Config) { c.Key = "other" },
	} {
		changed := c
		change(&changed)
		_, err := open(t, changed).Unseal(t.Context(), "vault:v1:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=")
		require.ErrorIs(t, err, kms.ErrRefused, name)
		t.Logf("%s: %v", name, err)
	}
	require.Equal(t, http.StatusNoContent, ask("/v1/sys/seal", ""))
	_, err = open(t, c).Unseal(t.Context(), "vault:v1:AAAA")
	require.ErrorIs(t, err, kms.ErrAway)
}
