package role_test

import (
	"log/slog"
	"net"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lethe/ingest"
	"lethe/ingest/bus"
	"lethe/ingest/embedded"
	"lethe/pipeline/role"
	"lethe/pipeline/wire"
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
func TestARoleOutlastsAnOutage(t *testing.T) {
	dir := t.TempDir()
	broker, err := embedded.Start(dir, embedded.Config{CleanOnDemand: true}, slog.New(slog.DiscardHandler))
	require.NoError(t, err)
	cfg := broker.Config()
	cfg.DialTimeout = 5 * time.Second
	client, err := bus.Open(cfg)
	require.NoError(t, err)
	defer client.Close()
	require.NoError(t, client.Admin().Apply(t.Context()))
	said := make(warnings)
	logic := &echo{}
	around := role.Around(role.Kafka{Client: client}, nil, slog.New(slog.NewTextHandler(said, nil)))
	stop := start(t, role.Follow("echo", logic, around))
	notice := func(id string) {
		t.Helper()
		deleted := []ingest.Outgoing{wire.CommandTombstone(id)}
		require.NoError(t, client.Write(t.Context(), bus.Control, deleted))
		require.Eventually(t, func() bool { return strings.Contains(logic.take(), "notice of "+id) },
			time.Minute, time.Millisecond)
	}
	notice("first")

	require.NoError(t, broker.Close())
	require.Contains(t, <-said, "reading is interrupted")
	_, text, err := net.SplitHostPort(broker.Config().Brokers[0])
	require.NoError(t, err)
	port, err := strconv.Atoi(text)
	require.NoError(t, err)
	again, err := embedded.Start(dir, embedded.Config{Port: port, CleanOnDemand: true}, slog.New(slog.DiscardHandler))
	require.NoError(t, err)
	defer again.Close()
	notice("second")

	// Stopping is not an outage.
	require.NoError(t, stop())
}
