package service_test

import (
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lethe/audit"
	"lethe/configs"
	"lethe/internal/kms"
	"lethe/internal/kms/kmstest"
	"lethe/service"
	"lethe/service/servicetest"
)

// With a key management system the keys lie sealed in their files. A start waits for one that is away
// and says so; once they are unsealed it is not needed any more. What it refuses ends the start in one
// line, and nothing is made in the place of a key.
func TestKeysAreUnsealedAtTheStart(t *testing.T) {
	vault := kmstest.New(t, "s.right")
	c := servicetest.SmallConfig(t, t.TempDir())
	c.SecretFile = ""
	c.HTTP.Address = net.JoinHostPort("127.0.0.1", strconv.Itoa(freePort(t)))
	c.KMS = kms.Defaults()
	c.KMS.Address, c.KMS.TokenFile = vault.URL, filepath.Join(t.TempDir(), "token")
	require.NoError(t, os.WriteFile(c.KMS.TokenFile, []byte("s.right"), 0o600))
	vault.Seal(true)
	says := make(chan bool, 1)
	go func() {
		for deadline := time.Now().Add(servicetest.WaitFor); time.Now().Before(deadline); time.Sleep(servicetest.Tick) {
			if strings.Contains(page(t, c.HTTP.Address, "/readyz"), "keys: not ok") {
				says <- true
				break
			}
		}
		close(says)
		vault.Seal(false)
	}()
	r := start(t, c)
	require.True(t, <-says, "it waits, and says so")
	require.Contains(t, page(t, c.HTTP.Address, "/readyz"), "keys: ok")
	for _, path := range []string{c.SecretPath(), c.SigningKeyPath()} {
		content, err := os.ReadFile(path)
		require.NoError(t, err)
		require.True(t, kms.IsSealed(content), path)
	}
	vault.Seal(true) // it goes on without
	stream := servicetest.SmallStream(t, 2, 40, 3)
	r.Replay(stream)
	r.Stop()

	vault.Seal(false)
	report, err := audit.Check(t.Context(), audit.Options{Config: c})
	require.NoError(t, err)
	require.Empty(t, report.Problems)
	asked := vault.Asked()
	start(t, c).Stop()
	require.LessOrEqual(t, vault.Asked(), asked+3, "once for each key, whatever is done with them")

	open := c
	open.KMS = kms.Defaults()
	_, err = service.New(t.Context(), service.Defaults(open, "test", slog.New(slog.DiscardHandler)))
	require.ErrorIs(t, err, configs.ErrKeyFile)
	require.ErrorContains(t, err, "it is sealed by a key management system")
	vault.TakeToken("s.other")
	_, err = service.New(t.Context(), service.Defaults(c, "test", slog.New(slog.DiscardHandler)))
	require.ErrorIs(t, err, kms.ErrRefused)
	require.ErrorContains(t, err, "permission denied")
	vault.TakeToken("s.right")

	store, err := configs.KeysOf(c).Store()
	require.NoError(t, err)
	files, err := configs.KeysOf(c).Files()
	require.NoError(t, err)
	require.Len(t, files, 2)
	for _, path := range files {
		changed, err := store.UnsealFile(t.Context(), path)
		require.NoError(t, err)
		require.True(t, changed)
	}
	_, err = service.New(t.Context(), service.Defaults(c, "test", slog.New(slog.DiscardHandler)))
	require.ErrorIs(t, err, configs.ErrKeyFile)
	require.ErrorContains(t, err, "lethe keys seal seals it")
	start(t, open).Stop()
	for _, path := range files {
		changed, err := store.SealFile(t.Context(), path)
		require.NoError(t, err)
		require.True(t, changed)
		changed, err = store.SealFile(t.Context(), path)
		require.NoError(t, err)
		require.False(t, changed, "it is")
	}
	start(t, c).Stop()
}
