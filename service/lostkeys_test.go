package service_test

import (
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"lethe/configs"
	"lethe/service"
	"lethe/service/servicetest"
)

// A key that is lost, with its public half too, is never replaced silently: the start is refused
// with the remedy, and nothing is made in its place.
func TestLostKeysAreNotReplaced(t *testing.T) {
	t.Parallel()
	c := servicetest.SmallConfig(t, t.TempDir())
	c.SecretFile = ""
	start(t, c).Stop()
	for _, lost := range [][]string{
		{c.SigningKeyPath()}, {c.SigningKeyPath(), configs.PublicKeyPath(c.SigningKeyPath())}, {c.SecretPath()},
	} {
		kept := make(map[string][]byte)
		for _, path := range lost {
			content, err := os.ReadFile(path)
			require.NoError(t, err)
			kept[path] = content
			require.NoError(t, os.Remove(path))
		}
		_, err := service.New(t.Context(), service.Options{
			Config: c, Version: "test", Random: servicetest.Zeros{}, Logger: slog.New(slog.DiscardHandler),
		})
		require.ErrorIs(t, err, configs.ErrKeyFile)
		require.ErrorContains(t, err, lost[0])
		require.ErrorContains(t, err, "put it back from a copy")
		for path, content := range kept {
			_, err := os.Stat(path)
			require.True(t, errors.Is(err, fs.ErrNotExist), path)
			require.NoError(t, os.WriteFile(path, content, 0o600))
		}
	}
	start(t, c).Stop()
}

// After a rotation the secret of the ledger is a key like the others: without it what was erased would
// be taken again, so the start is refused.
func TestALostLedgerSecretIsNotPassedOver(t *testing.T) {
	t.Parallel()
	c := servicetest.SmallConfig(t, t.TempDir())
	c.SecretFile = ""
	first, err := configs.LoadOrCreateSecret(c.SecretPath(), servicetest.Zeros{})
	require.NoError(t, err)
	require.NoError(t, os.Remove(c.SecretPath()))
	require.NoError(t, configs.Keystore{}.WriteRotatedSecret(t.Context(), c.SecretPath(), first.Follow([32]byte{7})))
	start(t, c).Stop()
	require.NoError(t, os.Remove(configs.LedgerSecretPath(c.SecretPath())))
	_, err = service.New(t.Context(), service.Options{
		Config: c, Version: "test", Random: servicetest.Zeros{}, Logger: slog.New(slog.DiscardHandler),
	})
	require.ErrorIs(t, err, service.ErrSettings)
	require.ErrorContains(t, err, "with secret.ledger beside it")
}
