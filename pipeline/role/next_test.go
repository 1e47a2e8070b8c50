package role_test

import (
	"log/slog"
	"net"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lethe/ingest"
	"lethe/ingest/bus"
	"lethe/ingest/embedded"
	"lethe/pipeline/role"
)

// warnings is a log that passes on what was said, as long as somebody listens.
type warnings chan string

func (w warnings) Write(line []byte) (int, error) {
	select {
	case w <- string(line):
	default:
	}
	return len(line), nil
}

// A role goes on where it was when the brokers are back, and its log says that
// they were away.
func TestNextOutlastsAnOutage(t *testing.T) {
	dir := t.TempDir()
	broker, err := embedded.Start(dir, embedded.Config{CleanOnDemand: true}, slog.New(slog.DiscardHandler))
	require.NoError(t, err)
	cfg := broker.Config()
	cfg.DialTimeout = 100 * time.Millisecond
	client, err := bus.Open(cfg)
	require.NoError(t, err)
	defer client.Close()
	require.NoError(t, client.Apply(t.Context()))
	tail, err := client.Tail(map[bus.TopicPartition]int64{{Topic: bus.ErasureStatus}: bus.FromStart})
	require.NoError(t, err)
	defer tail.Close()
	require.NoError(t, client.Write(t.Context(), bus.ErasureStatus, []ingest.Outgoing{{Key: []byte("first")}}))
	said := make(warnings)
	log := slog.New(slog.NewTextHandler(said, nil))
	keys := make(chan string)
	failed := make(chan error, 1)
	go func() {
		for {
			batch, err := role.Next(t.Context(), tail, log)
			if err != nil {
				failed <- err
				return
			}
			for _, rec := range batch.Records {
				keys <- string(rec.Key)
			}
		}
	}()
	require.Equal(t, "first", <-keys)

	require.NoError(t, broker.Close())
	require.Contains(t, <-said, "broker unreachable")
	_, text, err := net.SplitHostPort(broker.Config().Brokers[0])
	require.NoError(t, err)
	port, err := strconv.Atoi(text)
	require.NoError(t, err)
	again, err := embedded.Start(dir, embedded.Config{Port: port, CleanOnDemand: true}, slog.New(slog.DiscardHandler))
	require.NoError(t, err)
	defer again.Close()
	require.NoError(t, client.Write(t.Context(), bus.ErasureStatus, []ingest.Outgoing{{Key: []byte("second")}}))
	require.Equal(t, "second", <-keys)

	// Stopping is not an outage.
	require.NoError(t, tail.Close())
	require.Error(t, <-failed)
}
