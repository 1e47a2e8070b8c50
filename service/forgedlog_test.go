package service_test

import (
	"context"
	"log/slog"
	"net"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lethe/ingest"
	"lethe/ingest/bus"
	"lethe/service"
	"lethe/service/servicetest"
)

// Whoever floods a topic with forged records fills the log with one line for each, not more, and /readyz says so, too.
func TestAForgedRecordIsOneLineOfTheLog(t *testing.T) {
	config := servicetest.SmallConfig(t, t.TempDir())
	config.HTTP.Address = net.JoinHostPort("127.0.0.1", strconv.Itoa(freePort(t)))
	var log logged
	s, err := service.New(t.Context(), service.Options{
		Config: config, Version: "test", Random: servicetest.Zeros{}, Logger: slog.New(slog.NewTextHandler(&log, nil)),
	})
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	ended := make(chan error, 1)
	go func() { ended <- s.Run(ctx) }()
	r := &running{&servicetest.Running{Service: s, T: t}}
	require.NoError(t, r.Forger().Write(t.Context(), bus.ErasureStatus,
		[]ingest.Outgoing{{Key: []byte("gdpr-1"), Value: []byte("{}")}}))
	require.Eventually(t, func() bool {
		return strings.Contains(page(t, config.HTTP.Address, "/readyz"), "erasure-status.v1/0: offsets")
	}, time.Minute, 20*time.Millisecond)
	cancel()
	require.NoError(t, <-ended)
	require.NoError(t, s.Close())
	require.Equal(t, 1, strings.Count(log.String(), "level=ERROR"), log.String())
	require.Contains(t, log.String(), "a record that lethe did not write was ignored")
}
