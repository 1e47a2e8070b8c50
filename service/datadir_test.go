package service_test

import (
	"log/slog"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"lethe/ingest/embedded"
	"lethe/internal/testbroker"
	"lethe/service"
	"lethe/service/servicetest"
)

// Nobody else may read what a data directory holds: neither a new one (S8: it was made 0755) nor one that was open to
// other users of the machine before lethe started.
func TestTheDataDirectoryIsItsOwnersAlone(t *testing.T) {
	t.Parallel()
	c := servicetest.SmallConfig(t, filepath.Join(t.TempDir(), "new"))
	for range 2 {
		start(t, c).Stop()
		at, err := os.Stat(c.DataDir)
		require.NoError(t, err)
		require.Equal(t, os.FileMode(0o700), at.Mode().Perm())
		require.NoError(t, os.Chmod(c.DataDir, 0o755))
	}
}

// The image as it is built listens on all addresses: without a login it says what to do and serves nobody.
func TestNobodyIsServedBeyondThisMachineWithoutALogin(t *testing.T) {
	c := servicetest.SmallConfig(t, t.TempDir())
	c.HTTP.Address, c.HTTP.Insecure = "0.0.0.0:0", true
	_, err := service.New(t.Context(), service.Defaults(c, "test", slog.New(slog.DiscardHandler)))
	require.ErrorContains(t, err, "http.tokens_file")
}

// W132: a second process on a data directory must not announce itself to the others: the first took it for a copy of
// its directory, and ended.
func TestASecondProcessOnADataDirectoryLeavesTheFirstAlone(t *testing.T) {
	t.Parallel()
	c := servicetest.SmallConfig(t, filepath.Join(t.TempDir(), "data"))
	broker, _ := testbroker.Start(t, nil)
	c.Kafka.Brokers = broker.Config().Brokers
	first := start(t, c)
	_, err := service.New(t.Context(), service.Defaults(c, "test", slog.New(slog.DiscardHandler)))
	require.ErrorIs(t, err, embedded.ErrInUse)
	require.ErrorContains(t, err, "another lethe runs on it")
	first.Replay(servicetest.SmallStream(t, 2, 30, 5))
	first.Stop()
	start(t, c).Stop()
}
