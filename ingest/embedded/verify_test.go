package embedded_test

import (
	"log/slog"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"lethe/ingest"
	"lethe/ingest/bus"
	"lethe/ingest/embedded"
)

// A flipped byte in the log lost everything behind it without a word. A start is
// refused, with the file named, and the file is left as it is. A log whose end was
// being written when a process died is not damaged.
func TestADamagedLogIsRefused(t *testing.T) {
	dir := t.TempDir()
	start := func() (*embedded.Broker, error) {
		return embedded.Start(dir, embedded.Config{CleanOnDemand: true}, slog.New(slog.DiscardHandler))
	}
	b, err := start()
	require.NoError(t, err)
	c, err := bus.Open(b.Config())
	require.NoError(t, err)
	require.NoError(t, c.Admin().Apply(t.Context()))
	for range 3 {
		require.NoError(t, c.Write(t.Context(), bus.Receipts, []ingest.Outgoing{{Key: []byte("k"), Value: []byte("v")}}))
	}
	require.NoError(t, c.Close())
	require.NoError(t, b.Close())
	files, err := filepath.Glob(filepath.Join(dir, "log", "partitions", "*receipts*", "*.dat"))
	require.NoError(t, err)
	require.Len(t, files, 1)
	whole, err := os.ReadFile(files[0])
	require.NoError(t, err)
	size := len(whole) / 3
	flip := func(at int) {
		raw := append([]byte{}, whole...)
		raw[at] ^= 4
		require.NoError(t, os.WriteFile(files[0], raw, 0o600))
	}
	for at := range 3 * size {
		if i := at % size; i >= 12 && i < 16 || i < 12 && at >= 2*size {
			continue // the epoch is in no checksum; a wrong length at the end looks torn
		}
		flip(at)
		_, err = start()
		require.ErrorIs(t, err, embedded.ErrCorrupt, "byte %d", at)
		require.ErrorContains(t, err, files[0])
	}
	raw, err := os.ReadFile(files[0])
	require.NoError(t, err)
	require.Len(t, raw, len(whole), "it is left as it is")

	zeros := append(append([]byte{}, whole[:len(whole)-20]...), make([]byte, 20)...)
	for _, end := range [][]byte{whole[:len(whole)-3], zeros} {
		require.NoError(t, os.WriteFile(files[0], end, 0o600))
		b, err = start()
		require.NoError(t, err, "a torn end is none")
		require.NoError(t, b.Close())
	}
}
