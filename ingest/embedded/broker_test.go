package embedded_test

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lethe/ingest"
	"lethe/ingest/bus"
	"lethe/ingest/embedded"
	"lethe/internal/leakcheck"
	"lethe/internal/residue"
)

func TestMain(m *testing.M) {
	if os.Getenv(childDir) != "" {
		child()
		return
	}
	leakcheck.Main(m)
}

func start(t *testing.T, dir string, c embedded.Config) (*embedded.Broker, *bus.Client) {
	t.Helper()
	b, err := embedded.Start(dir, c, slog.New(slog.DiscardHandler))
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, b.Close()) })
	client, err := bus.Open(b.Config())
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, client.Close()) })
	require.NoError(t, client.Admin().Apply(t.Context()))
	return b, client
}

// filesWith lists where a text stands in the files of a folder. The broker may
// replace files meanwhile.
func filesWith(t *testing.T, dir, needle string) []residue.Hit {
	t.Helper()
	report, err := residue.Search([]residue.Form{{Name: "text", Bytes: []byte(needle)}}, dir)
	require.NoError(t, err)
	return report.Hits
}

func readAll(t *testing.T, c *bus.Client, topic bus.Topic) map[string]string {
	t.Helper()
	found := map[string]string{}
	require.NoError(t, c.ReadAll(t.Context(), topic, func(rec ingest.Record) error {
		if rec.Tombstone() {
			delete(found, string(rec.Key))
		} else {
			found[string(rec.Key)] = string(rec.Value)
		}
		return nil
	}))
	return found
}

func put(key, value string) ingest.Outgoing {
	return ingest.Outgoing{Key: []byte(key), Value: []byte(value)}
}

// The physical half of an erasure: after a tombstone, a marker and Compact, no
// file holds a byte of key or value.
func TestTombstoneMarkerCompactLeavesNoByte(t *testing.T) {
	for _, topic := range []bus.Topic{bus.Transactions, bus.Erasures, bus.DeadLetters} {
		t.Run(string(topic), func(t *testing.T) {
			dir := t.TempDir()
			b, c := start(t, dir, embedded.Config{CleanOnDemand: true})
			ctx := t.Context()
			require.NoError(t, c.Write(ctx, topic, []ingest.Outgoing{
				put("keep-0", "kept"), put("canary-key", "canary-value"), put("keep-1", "kept"),
			}))
			require.NotEmpty(t, filesWith(t, dir, "canary-key"))
			require.NotEmpty(t, filesWith(t, dir, "canary-value"))

			require.NoError(t, c.Write(ctx, topic, []ingest.Outgoing{{Key: []byte("canary-key")}}))
			require.NoError(t, b.Compact())
			require.NotEmpty(t, filesWith(t, dir, "canary-key"), "the tombstone is the newest write")

			require.NoError(t, c.RollMarkers(ctx, topic))
			require.NoError(t, b.Compact())
			require.Empty(t, filesWith(t, dir, "canary-key"))
			require.Empty(t, filesWith(t, dir, "canary-value"))
			found := readAll(t, c, topic)
			require.Equal(t, "kept", found["keep-0"])
			require.Equal(t, "kept", found["keep-1"])
		})
	}
}

func TestCleanerCompactsByItself(t *testing.T) {
	dir := t.TempDir()
	_, c := start(t, dir, embedded.Config{CleanInterval: 20 * time.Millisecond})
	require.NoError(t, c.Write(t.Context(), bus.Labels, []ingest.Outgoing{put("canary-key", "canary-value")}))
	require.NoError(t, c.Write(t.Context(), bus.Labels, []ingest.Outgoing{{Key: []byte("canary-key")}}))
	require.NoError(t, c.RollMarkers(t.Context(), bus.Labels))
	require.Eventually(t, func() bool { return len(filesWith(t, filepath.Join(dir, "log"), "canary")) == 0 },
		5*time.Second, 20*time.Millisecond)
}

func TestRestartKeepsRecordsAndOffsets(t *testing.T) {
	dir := t.TempDir()
	var ends []int64
	for round := range 3 {
		b, err := embedded.Start(dir, embedded.Config{SyncWrites: round == 1, CleanInterval: time.Second},
			slog.New(slog.DiscardHandler))
		require.NoError(t, err)
		c, err := bus.Open(b.Config())
		require.NoError(t, err)
		require.NoError(t, c.Admin().Apply(t.Context()))
		if round > 0 {
			again, err := c.EndOffsets(t.Context(), bus.Labels)
			require.NoError(t, err)
			require.Equal(t, ends, again)
		}
		require.Len(t, readAll(t, c, bus.Labels), round*100)
		records := make([]ingest.Outgoing, 100)
		for i := range records {
			records[i] = put(fmt.Sprintf("k%d-%d", round, i), "v")
		}
		require.NoError(t, c.Write(t.Context(), bus.Labels, records))
		if round == 1 {
			require.NoError(t, b.Compact())
		}
		ends, err = c.EndOffsets(t.Context(), bus.Labels)
		require.NoError(t, err)
		require.NoError(t, c.Close())
		require.NoError(t, b.Close())
		require.NoError(t, b.Close())
		require.ErrorIs(t, b.Compact(), embedded.ErrClosed)
	}
}

func TestStartErrorsNameTheirCause(t *testing.T) {
	dir := t.TempDir()
	b, _ := start(t, dir, embedded.Config{CleanInterval: time.Second})

	_, err := embedded.Start(dir, embedded.Config{CleanInterval: time.Second}, slog.New(slog.DiscardHandler))
	require.ErrorIs(t, err, embedded.ErrInUse)
	require.ErrorContains(t, err, dir)

	_, port, err := net.SplitHostPort(b.Config().Brokers[0])
	require.NoError(t, err)
	n, err := strconv.Atoi(port)
	require.NoError(t, err)
	other := t.TempDir()
	_, err = embedded.Start(other, embedded.Config{Port: n, CleanInterval: time.Second}, slog.New(slog.DiscardHandler))
	require.ErrorContains(t, err, b.Config().Brokers[0])
	again, err := embedded.Start(other, embedded.Config{CleanInterval: time.Second}, slog.New(slog.DiscardHandler))
	require.NoError(t, err, "a failed start must release the lock")
	require.NoError(t, again.Close())

	file := filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	_, err = embedded.Start(filepath.Join(file, "log"), embedded.Config{CleanInterval: time.Second},
		slog.New(slog.DiscardHandler))
	require.ErrorContains(t, err, file)

	_, err = embedded.Start("", embedded.Config{Port: 70000, CleanInterval: 1}, slog.New(slog.DiscardHandler))
	require.EqualError(t, err, "embedded broker: port is 70000, want 0 to 65535\n"+
		"clean_interval is \"1ns\", want 10ms to 1h")
	_, err = embedded.Start("", embedded.Defaults(), slog.New(slog.DiscardHandler))
	require.ErrorContains(t, err, "no directory")
}

// Writers must not be disturbed by compaction, and lose nothing to it.
func TestWritesDuringCompaction(t *testing.T) {
	b, c := start(t, t.TempDir(), embedded.Config{CleanOnDemand: true})
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() {
		for i := 0; ; i++ {
			if ctx.Err() != nil {
				done <- nil
				return
			}
			if err := c.Write(t.Context(), bus.Models,
				[]ingest.Outgoing{put(fmt.Sprint(i), "v"), put("same", fmt.Sprint(i))}); err != nil {
				done <- err
				return
			}
		}
	}()
	for range 20 {
		require.NoError(t, b.Compact())
	}
	cancel()
	require.NoError(t, <-done)
	found := readAll(t, c, bus.Models)
	last, err := strconv.Atoi(found["same"])
	require.NoError(t, err)
	require.Len(t, found, last+2)
}
