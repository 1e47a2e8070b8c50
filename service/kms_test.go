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

	"lethe"
	"lethe/audit"
	"lethe/configs"
	"lethe/deletions"
	"lethe/internal/kms"
	"lethe/internal/kms/kmstest"
	"lethe/service"
	"lethe/service/backup"
)

// With a key management system the keys lie sealed in their files. A start waits for one that is away
// and says so; once they are unsealed it is not needed any more. What it refuses ends the start in one
// line, and nothing is made in the place of a key.
func TestKeysAreUnsealedAtTheStart(t *testing.T) {
	vault := kmstest.New(t, "s.right")
	c := smallConfig(t, t.TempDir())
	c.SecretFile = ""
	c.HTTP.Address = net.JoinHostPort("127.0.0.1", strconv.Itoa(freePort(t)))
	c.KMS = kms.Defaults()
	c.KMS.Address, c.KMS.TokenFile = vault.URL, filepath.Join(t.TempDir(), "token")
	require.NoError(t, os.WriteFile(c.KMS.TokenFile, []byte("s.right"), 0o600))
	vault.Seal(true)
	says := make(chan bool, 1)
	go func() {
		for deadline := time.Now().Add(waitFor); time.Now().Before(deadline); time.Sleep(tick) {
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
	stream := smallStream(t, 2, 40, 3)
	r.replay(stream)
	r.stop()

	vault.Seal(false)
	report, err := audit.Check(t.Context(), audit.Options{Config: c})
	require.NoError(t, err)
	require.Empty(t, report.Problems)
	asked := vault.Asked()
	start(t, c).stop()
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
	start(t, open).stop()
	for _, path := range files {
		changed, err := store.SealFile(t.Context(), path)
		require.NoError(t, err)
		require.True(t, changed)
		changed, err = store.SealFile(t.Context(), path)
		require.NoError(t, err)
		require.False(t, changed, "it is")
	}
	start(t, c).stop()
}

// Backups of a deployment whose keys are sealed are checked by the public key that is in them, and put back with the
// keys as they lie there.
func TestABackupOfSealedKeysIsPutBack(t *testing.T) {
	t.Parallel()
	vault := kmstest.New(t, "s.right")
	c := smallConfig(t, t.TempDir())
	c.SecretFile = ""
	c.KMS = kms.Defaults()
	c.KMS.Address, c.KMS.TokenFile = vault.URL, filepath.Join(t.TempDir(), "token")
	require.NoError(t, os.WriteFile(c.KMS.TokenFile, []byte("s.right"), 0o600))
	stream := smallStream(t, 2, 40, 3)
	r := start(t, c)
	r.replay(stream)
	r.stop()
	first, _ := madeOf(t, c, 24*time.Hour)
	r = start(t, c)
	require.Equal(t, deletions.Verified, r.erase("after", lethe.ScopeStubs, labelledIllicit(stream, 1)[0]))
	r.stop()
	later, _ := madeOf(t, c, 48*time.Hour)

	put := c
	put.DataDir = filepath.Join(t.TempDir(), "put-back")
	_, err := backup.Restore{Config: put, From: first, Ledger: later, Now: time.Now()}.Run()
	require.NoError(t, err)
	again, err := backup.Finish(t.Context(), put, "test", slog.New(slog.DiscardHandler))
	require.NoError(t, err)
	require.Equal(t, 1, again.Targets)
	content, err := os.ReadFile(put.SigningKeyPath())
	require.NoError(t, err)
	require.True(t, kms.IsSealed(content))
	start(t, put).stop()
}
