package service_test

import (
	"context"
	"log/slog"
	"net"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lethe"
	"lethe/ingest/bus"
	"lethe/pipeline/wire"
	"lethe/service"
	"lethe/service/servicetest"
)

// What somebody wrote to lethe's own topics before the first start counts for nobody, also if that start ended before
// anything was said, as at a wrong address or password; nor does it for the processes that were there before.
func TestAFirstStartThatEndsMakesNothingForgedGenuine(t *testing.T) {
	b := &outsideBroker{t: t, dir: t.TempDir(), port: freePort(t)}
	b.start()
	c := servicetest.SmallConfig(t, t.TempDir())
	c.Kafka.Brokers = []string{b.address()}
	c.HTTP.Address = net.JoinHostPort("127.0.0.1", strconv.Itoa(freePort(t)))
	topics, err := bus.Open(c.Kafka)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, topics.Close()) })
	require.NoError(t, topics.Admin().Apply(t.Context()))
	forged := wire.Command{RequestID: "forged", Phase: wire.PhasePurge, SecretCheck: "0", Steps: []wire.CommandStep{
		{Timestep: 2, Revision: 9, Settled: true, Gone: true, Shards: []lethe.ShardID{0, 1, 2, 3}},
	}}
	records, err := forged.Records()
	require.NoError(t, err)
	require.NoError(t, topics.Write(t.Context(), bus.Control, records))

	elsewhere := c
	elsewhere.Kafka.Brokers = []string{net.JoinHostPort("127.0.0.1", strconv.Itoa(freePort(t)))}
	ctx, stop := context.WithTimeout(t.Context(), 2*time.Second)
	defer stop()
	_, err = service.New(ctx, service.Options{
		Config: elsewhere, Version: "test", Random: servicetest.Zeros{}, Logger: slog.New(slog.DiscardHandler),
	})
	require.ErrorIs(t, err, context.DeadlineExceeded)

	start(t, c)
	require.Eventually(t, func() bool { return strings.Contains(page(t, c.HTTP.Address, "/readyz"), "unproven") },
		servicetest.WaitFor, servicetest.Tick)
	value, err := os.ReadFile(service.SealedPath(c.DataDir))
	require.NoError(t, err)
	sealed, err := wire.DecodeSealed(value)
	require.NoError(t, err)
	require.Empty(t, sealed.From)
}
