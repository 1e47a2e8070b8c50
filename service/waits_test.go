package service_test

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kversion"

	"lethe"
	"lethe/configs"
	"lethe/ingest"
	"lethe/ingest/bus"
	"lethe/service"
	"lethe/service/servicetest"
	"lethe/service/waiting"
)

// impatient is a deployment that tells at once what it waits for.
func impatient(t *testing.T) configs.Config {
	c := servicetest.SmallConfig(t, t.TempDir())
	c.HTTP.Address = net.JoinHostPort("127.0.0.1", strconv.Itoa(freePort(t)))
	c.Waiting.After = 3 * time.Second
	return c
}

// awaitCause waits until the service tells of a cause, or, with over, tells of it no more.
func (r *running) awaitCause(cause waiting.Cause, over bool) (found waiting.Wait) {
	r.T.Helper()
	r.Await(func(s *service.Status) bool {
		at := slices.IndexFunc(s.Waiting, func(w waiting.Wait) bool { return w.Cause == cause })
		if at >= 0 {
			found = s.Waiting[at]
		}
		return over == (at < 0)
	})
	return found
}

// pinned writes records to one partition.
func (r *running) pinned(topic bus.Topic, partition int, key, value []byte) {
	r.T.Helper()
	require.NoError(r.T, r.Client().Write(r.T.Context(), topic, []ingest.Outgoing{
		{Key: key, Value: value, Pinned: true, Partition: partition},
	}))
}

// TestWaitsOfADeployment has timesteps closed in one partition and then in both, and settled in one and then in both.
func TestWaitsOfADeployment(t *testing.T) {
	t.Parallel()
	c := impatient(t)
	r := start(t, c)
	step := servicetest.SmallStream(t, 1, 40, 3).Steps[0]
	for _, tx := range step.Transactions {
		key, value, err := ingest.EncodeTransaction(tx)
		require.NoError(t, err)
		require.NoError(t, r.Client().Write(t.Context(), bus.Transactions, []ingest.Outgoing{{Key: key, Value: value}}))
	}
	for _, l := range step.Labels {
		key, value, err := ingest.EncodeLabel(l)
		require.NoError(t, err)
		require.NoError(t, r.Client().Write(t.Context(), bus.Labels, []ingest.Outgoing{{Key: key, Value: value}}))
	}
	control := func(topic bus.Topic, partition int, encode func(lethe.Timestep, int) (key, value []byte)) {
		key, value := encode(step.Timestep, partition)
		r.pinned(topic, partition, key, value)
	}
	control(bus.Transactions, 0, ingest.EncodeClose)
	w := r.awaitCause(waiting.PartitionBehind, false)
	require.Equal(t, "transactions.v1", w.Topic)
	require.Equal(t, 1, *w.Partition)
	require.Equal(t, step.Timestep, *w.Timestep)
	// Traffic may come, and every surface tells what is waited for.
	require.True(t, strings.HasSuffix(page(t, c.HTTP.Address, "/readyz"), "\nok\n"))
	require.Contains(t, page(t, c.HTTP.Address, "/metrics"), `lethe_waiting{cause="partition_behind"} 1`)
	r.caller(t).get("/status", &service.Status{})

	control(bus.Transactions, 1, ingest.EncodeClose)
	r.awaitCause(waiting.PartitionBehind, true)
	require.Equal(t, 0, *r.awaitCause(waiting.LabelsUnsettled, false).Partition)
	control(bus.Labels, 0, ingest.EncodeSettle)
	control(bus.Labels, 1, ingest.EncodeSettle)
	r.awaitCause(waiting.LabelsUnsettled, true)
	require.Contains(t, page(t, c.HTTP.Address, "/metrics"), `lethe_waiting{cause="labels_unsettled"} 0`)
	require.Empty(t, r.Await(func(s *service.Status) bool { return s.Timesteps.Settled == 1 }).Waiting)
}

// TestRejectedRecordsAreWaitedFor sends 40 records that are no records: status counts and names them.
func TestRejectedRecordsAreWaitedFor(t *testing.T) {
	t.Parallel()
	r := start(t, impatient(t))
	for i := range 40 { // of keys of their own, or compaction leaves the last
		r.pinned(bus.Transactions, 0, fmt.Append(nil, i), []byte("{"))
	}
	rejected := r.Await(func(s *service.Status) bool { return s.RejectedRecords == 40 }).RejectedRecords
	require.Equal(t, int64(40), rejected)
	const says = "40 of the latest 40 records of transactions.v1 were rejected, 40 of them as unparseable."
	require.Eventually(t, func() bool { // the first look may have come before the last record
		return strings.Contains(r.awaitCause(waiting.RecordsRejected, false).Message, says)
	}, servicetest.WaitFor, servicetest.Tick)
}

// TestAnOpenTransactionIsWaitedFor begins a producer's transaction, and aborts it.
func TestAnOpenTransactionIsWaitedFor(t *testing.T) {
	t.Parallel()
	r := start(t, impatient(t))
	producer, err := kgo.NewClient(kgo.SeedBrokers(r.Brokers()...), kgo.TransactionalID("t"),
		kgo.MaxVersions(kversion.V3_5_0()),
		kgo.RecordPartitioner(kgo.ManualPartitioner()))
	require.NoError(t, err)
	defer producer.Close()
	require.NoError(t, producer.BeginTransaction())
	topic := configs.Default().Kafka.Name(bus.Transactions)
	rec := &kgo.Record{Topic: topic, Key: []byte("k"), Value: []byte("v"), Partition: 1}
	require.NoError(t, producer.ProduceSync(t.Context(), rec).FirstErr())
	w := r.awaitCause(waiting.OpenTransaction, false)
	require.Equal(t, "transactions.v1", w.Topic)
	require.Equal(t, 1, *w.Partition)
	require.Contains(t, w.Message, "offsets 0 to 0 cannot be read")
	require.NoError(t, producer.EndTransaction(t.Context(), kgo.TryAbort))
	r.awaitCause(waiting.OpenTransaction, true)
}

// TestAReplayShowsNoWait polls the status through a replay.
func TestAReplayShowsNoWait(t *testing.T) {
	t.Parallel()
	c := servicetest.SmallConfig(t, t.TempDir())
	r := start(t, c)
	stream := servicetest.SmallStream(t, 6, 60, 3)
	_, err := service.Replay(t.Context(), r.Client(), stream, service.ReplayOptions{})
	require.NoError(t, err)
	_, last := stream.Range()
	until := time.Now().Add(8 * time.Second)
	r.Await(func(s *service.Status) bool {
		require.Empty(t, s.Waiting)
		return s.TrainedThrough == last && s.LagRecords == 0 && time.Now().After(until)
	})
}

// TestDebugLogNamesTimestepsAndEnsembles replays two timesteps with the logger of log.level=debug.
func TestDebugLogNamesTimestepsAndEnsembles(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	var text strings.Builder
	log := slog.New(slog.NewTextHandler(writerFunc(func(p []byte) (int, error) {
		mu.Lock()
		defer mu.Unlock()
		return text.Write(p)
	}), &slog.HandlerOptions{Level: slog.LevelDebug}))
	s, err := service.New(t.Context(), service.Options{
		Config: servicetest.SmallConfig(t, t.TempDir()), Version: "test", Random: servicetest.Zeros{}, Logger: log,
	})
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- s.Run(ctx) }()
	r := &running{&servicetest.Running{Service: s, T: t}}
	stream := servicetest.SmallStream(t, 2, 40, 3)
	r.Replay(stream)
	cancel()
	require.NoError(t, <-ended)
	require.NoError(t, s.Close())
	for _, want := range []string{
		`msg="timestep is closed" timestep=2`, `msg="timestep is settled" timestep=2`, `msg="ensemble is served"`,
	} {
		require.Contains(t, text.String(), want)
	}
	for _, step := range stream.Steps {
		require.NotContains(t, text.String(), string(step.Transactions[0].ID))
	}
}

type writerFunc func(p []byte) (int, error)

func (w writerFunc) Write(p []byte) (int, error) { return w(p) }
