package service_test

import (
	"log/slog"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"lethe/service"
)

// A data directory that other users of the machine may read is its owner's alone once lethe has started.
func TestADataDirectoryIsClosedToOthers(t *testing.T) {
	c := smallConfig(t, t.TempDir())
	require.NoError(t, os.Chmod(c.DataDir, 0o755))
	start(t, c).stop()
	at, err := os.Stat(c.DataDir)
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o700), at.Mode().Perm())
}

// The image as it is built listens on all addresses: without a login it says what to do and serves nobody.
func TestNobodyIsServedBeyondThisMachineWithoutALogin(t *testing.T) {
	c := smallConfig(t, t.TempDir())
	c.HTTP.Address, c.HTTP.Insecure = "0.0.0.0:0", true
	_, err := service.New(t.Context(), service.Defaults(c, "test", slog.New(slog.DiscardHandler)))
	require.ErrorContains(t, err, "http.tokens_file")
}
