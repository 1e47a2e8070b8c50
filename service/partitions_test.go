package service_test

import (
	"log/slog"
	"testing"

	"github.com/stretchr/testify/require"

	"lethe/ingest/bus"
	"lethe/service"
	"lethe/service/servicetest"
)

// One start with another number of partitions is refused before anything is changed,
// so that the next one, with the old number, goes on.
func TestAStartWithMorePartitionsIsRefusedAndHarmless(t *testing.T) {
	t.Parallel()
	stream := servicetest.SmallStream(t, 4, 50, 6)
	first, err := stream.Slice(1, 2)
	require.NoError(t, err)
	rest, err := stream.Slice(3, 4)
	require.NoError(t, err)
	c := servicetest.SmallConfig(t, t.TempDir())
	s := start(t, c)
	s.Replay(first)
	s.Stop()

	wide := c
	wide.Kafka.Partitions = 6
	_, err = service.New(t.Context(), service.Options{
		Config: wide, Version: "test", Random: servicetest.Zeros{}, Logger: slog.New(slog.DiscardHandler),
	})
	require.ErrorContains(t, err, "partitions cannot be added")
	require.ErrorContains(t, err, "has 2 partitions, want 6")

	s = start(t, c)
	counts, err := s.Client().Admin().Partitions(t.Context())
	require.NoError(t, err)
	require.Equal(t, 2, counts[bus.Transactions])
	s.Replay(rest)
	m := newMirror(t, c, stream)
	m.settle(1, 2, 3, 4)
	f := &forgetting{running: s, m: m}
	f.equal(m.build())
}
