package service

import (
	"context"
	"log/slog"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lethe"
	"lethe/configs"
	"lethe/dataset"
	"lethe/ingest/bus"
	"lethe/internal/cputime"
)

// BenchmarkCodes replays a stream until it is trained and scored, with codes of internal records and
// without, in turn, and tells the medians of both and of their ratio. Each iteration does both:
//
//	go test ./service -run '^$' -bench Codes -benchtime 7x
func BenchmarkCodes(b *testing.B) {
	options := dataset.GenerateDefaults()
	options.Steps, options.NodesPerStep, options.Features, options.Seed = 6, 1000, 60, 1
	stream, err := dataset.Generate(options)
	require.NoError(b, err)
	var with, without, ratios, cpu []float64
	for i := 0; b.Loop(); i++ {
		var seconds, used [2]float64
		for k := range 2 {
			sealed := (i+k)%2 == 0 // who is first changes
			at := 0
			if sealed {
				at = 1
			}
			seconds[at], used[at] = trained(b, stream, sealed)
		}
		without, with = append(without, seconds[0]), append(with, seconds[1])
		ratios, cpu = append(ratios, seconds[1]/seconds[0]), append(cpu, used[1]/used[0])
	}
	for name, list := range map[string][]float64{
		"s-with": with, "s-without": without, "ratio": ratios, "cpu-ratio": cpu,
	} {
		slices.Sort(list)
		b.ReportMetric(list[len(list)/2], name)
	}
}

// trained is how long a stream takes, and how much processor time.
func trained(b *testing.B, stream *dataset.Stream, sealed bool) (seconds, cpu float64) {
	c := configs.PerShard()
	c.DataDir, c.HTTP.Address, c.Embedded.Port = b.TempDir(), "127.0.0.1:0", 0
	c.Kafka.Partitions, c.Partition.Shards, c.Trainer.Hidden, c.Trainer.Passes = 2, 8, 16, 1
	s, err := New(b.Context(), Defaults(c, "test", slog.New(slog.DiscardHandler)))
	require.NoError(b, err)
	if !sealed {
		(*bus.Seal)(nil).On(s.client, s.patient) // before any role reads
	}
	ctx, stop := context.WithCancel(b.Context())
	ended := make(chan error, 1)
	began, used := time.Now(), cputime.Used()
	go func() { ended <- s.Run(ctx) }()
	_, err = Replay(b.Context(), s.Client(), stream, ReplayOptions{})
	require.NoError(b, err)
	last := stream.Steps[len(stream.Steps)-1].Timestep
	deadline := time.Now().Add(5 * time.Minute)
	for through := lethe.NoTimestep; through != last; {
		require.True(b, time.Now().Before(deadline), "the stream is not trained")
		time.Sleep(10 * time.Millisecond)
		if st, err := s.Status(b.Context()); err == nil {
			through = st.TrainedThrough
		}
	}
	seconds, cpu = time.Since(began).Seconds(), (cputime.Used() - used).Seconds()
	stop()
	require.NoError(b, <-ended)
	require.NoError(b, s.Close())
	return seconds, cpu
}
