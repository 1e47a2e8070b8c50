package service_test

import (
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kversion"

	"lethe"
	"lethe/configs"
	"lethe/dataset"
	"lethe/ingest"
	"lethe/ingest/bus"
	"lethe/service"
	"lethe/service/servicetest"
	"lethe/service/waiting"
)

// impatient is a deployment that tells at once what it waits for.
func impatient(t *testing.T) configs.Config {
	c := servicetest.SmallConfig(t, t.TempDir())
	c.Waiting.After = 3 * time.Second
	return c
}

// awaitCause waits until the service tells of a cause, or, with over, tells of it no more.
func awaitCause(r *running, cause waiting.Cause, over bool) (found waiting.Wait) {
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
func writeTo(r *running, topic bus.Topic, partition int, key, value []byte) {
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
	sendGraph(r, dataset.Step{Transactions: step.Transactions}) // without its payments
	sendLabels(r, step)
	control := func(topic bus.Topic, partition int, encode func(lethe.Timestep, int) (key, value []byte)) {
		key, value := encode(step.Timestep, partition)
		writeTo(r, topic, partition, key, value)
	}
	control(bus.Transactions, 0, ingest.EncodeClose)
	w := awaitCause(r, waiting.PartitionBehind, false)
	require.Equal(t, "transactions.v1", w.Topic)
	require.Equal(t, 1, *w.Partition)
	require.Equal(t, step.Timestep, *w.Timestep)
	// Traffic may come, and every surface tells what is waited for.
	require.True(t, strings.HasSuffix(r.Page("/readyz"), "\nok\n"))
	require.Contains(t, r.Page("/metrics"), `lethe_waiting{cause="partition_behind"} 1`)
	callerOf(r).get("/status", &service.Status{})

	control(bus.Transactions, 1, ingest.EncodeClose)
	awaitCause(r, waiting.PartitionBehind, true)
	require.Equal(t, 0, *awaitCause(r, waiting.LabelsUnsettled, false).Partition)
	control(bus.Labels, 0, ingest.EncodeSettle)
	control(bus.Labels, 1, ingest.EncodeSettle)
	awaitCause(r, waiting.LabelsUnsettled, true)
	require.Contains(t, r.Page("/metrics"), `lethe_waiting{cause="labels_unsettled"} 0`)
	require.Empty(t, r.Await(func(s *service.Status) bool { return s.Timesteps.Settled == 1 }).Waiting)
}

// TestRejectedRecordsAreWaitedFor sends 40 records that are no records: status counts and names them.
func TestRejectedRecordsAreWaitedFor(t *testing.T) {
	t.Parallel()
	r := start(t, impatient(t))
	for i := range 40 { // of keys of their own, or compaction leaves the last
		writeTo(r, bus.Transactions, 0, fmt.Append(nil, i), []byte("{"))
	}
	rejected := r.Await(func(s *service.Status) bool { return s.RejectedRecords == 40 }).RejectedRecords
	require.Equal(t, int64(40), rejected)
	const says = "40 of the latest 40 records of transactions.v1 were rejected, 40 of them as unparseable."
	require.Eventually(t, func() bool { // the first look may have come before the last record
		return strings.Contains(awaitCause(r, waiting.RecordsRejected, false).Message, says)
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
	w := awaitCause(r, waiting.OpenTransaction, false)
	require.Equal(t, "transactions.v1", w.Topic)
	require.Equal(t, 1, *w.Partition)
	require.Contains(t, w.Message, "offsets 0 to 0 cannot be read")
	require.NoError(t, producer.EndTransaction(t.Context(), kgo.TryAbort))
	awaitCause(r, waiting.OpenTransaction, true)
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
	var log logged
	o := servicetest.Options(servicetest.SmallConfig(t, t.TempDir()))
	o.Logger = slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	r := servicetest.StartWith(t, o)
	stream := servicetest.SmallStream(t, 2, 40, 3)
	r.Replay(stream)
	r.Stop()
	for _, want := range []string{
		`msg="timestep is closed" timestep=2`, `msg="timestep is settled" timestep=2`, `msg="ensemble is served"`,
	} {
		require.Contains(t, log.String(), want)
	}
	for _, step := range stream.Steps {
		require.NotContains(t, log.String(), string(step.Transactions[0].ID))
	}
}
