// Package testbroker gives a test an embedded broker of its own.
package testbroker

import (
	"log/slog"
	"testing"

	"github.com/stretchr/testify/require"

	"lethe/ingest/bus"
	"lethe/ingest/embedded"
)

// Start starts a broker with lethe's topics that compacts only on demand, and connects to it.
// partitions overrides the partition counts of topics. Both are closed when the test ends.
func Start(t testing.TB, partitions map[bus.Topic]int) (*embedded.Broker, *bus.Client) {
	t.Helper()
	broker, err := embedded.Start(t.TempDir(), embedded.Config{CleanOnDemand: true}, slog.New(slog.DiscardHandler))
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, broker.Close()) })
	cfg := broker.Config()
	cfg.PartitionsOf = partitions
	client, err := bus.Open(cfg)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, client.Close()) })
	require.NoError(t, client.Admin().Apply(t.Context()))
	return broker, client
}
