package service_test

import (
	"bytes"
	"context"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kgo"

	"lethe"
	"lethe/configs"
	"lethe/ingest"
	"lethe/ingest/bus"
	"lethe/ingest/embedded"
	"lethe/pipeline/wire"
	"lethe/service"
	"lethe/service/servicetest"
)

// outsideBroker is a broker of its own that can be away.
type outsideBroker struct {
	t      *testing.T
	dir    string
	port   int
	broker *embedded.Broker
}

func (b *outsideBroker) start() {
	b.t.Helper()
	c := embedded.Defaults()
	c.Port, c.DeleteTopics = b.port, true
	var err error
	b.broker, err = embedded.Start(b.dir, c, slog.New(slog.DiscardHandler))
	require.NoError(b.t, err)
	b.t.Cleanup(func() { require.NoError(b.t, b.broker.Close()) })
}

func (b *outsideBroker) address() string { return net.JoinHostPort("127.0.0.1", strconv.Itoa(b.port)) }

func freePort(t *testing.T) int {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port
}

// freeAddress is that of a service whose pages are read before it runs.
func freeAddress(t *testing.T) string {
	return net.JoinHostPort("127.0.0.1", strconv.Itoa(freePort(t)))
}

// page returns a page of the service on a port, or "" while nothing answers.
func page(t *testing.T, address, path string) string {
	t.Helper()
	response, err := http.Get("http://" + address + path)
	if err != nil {
		return ""
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	require.NoError(t, err)
	return string(text)
}

// Brokers that are away are waited for, at the start and later, and the
// health checks say so within seconds.
func TestTheServiceWaitsForBrokers(t *testing.T) {
	b := &outsideBroker{t: t, dir: t.TempDir(), port: freePort(t)}
	c := servicetest.SmallConfig(t, t.TempDir())
	c.Kafka.Brokers = []string{b.address()}
	c.HTTP.Address = freeAddress(t)
	says := func(path string, texts ...string) {
		t.Helper()
		require.Eventually(t, func() bool {
			text := page(t, c.HTTP.Address, path)
			for _, want := range texts {
				if !strings.Contains(text, want) {
					return false
				}
			}
			return true
		}, 15*time.Second, 50*time.Millisecond, "%s does not say %q", path, texts)
	}

	// A start that is given up.
	ctx, cancel := context.WithCancel(t.Context())
	gaveUp := make(chan error, 1)
	go func() {
		_, err := service.New(ctx, servicetest.Options(c))
		gaveUp <- err
	}()
	says("/readyz", "broker: not ok: no broker can be reached", "connection refused")
	says("/api/v1/status", "starting")
	cancel()
	require.ErrorIs(t, <-gaveUp, context.Canceled)

	time.AfterFunc(2*time.Second, b.start)
	r := start(t, c)
	says("/readyz", "broker: ok", "topics: ok", "view: ok\nok")
	says("/metrics", "lethe_broker_reachable 1")
	stream := servicetest.SmallStream(t, 4, 40, 3)
	first, second := servicetest.Part(t, stream, 1, 2), servicetest.Part(t, stream, 3, 4)
	r.Replay(first)

	require.NoError(t, b.broker.Close())
	says("/readyz", "broker: not ok", "topics: not ok")
	says("/metrics", "lethe_broker_reachable 0")
	time.Sleep(3 * time.Second)
	b.start()
	says("/readyz", "broker: ok", "topics: ok", "view: ok\nok")
	r.Replay(second)
}

// What cannot be read of a source topic is stepped over, and named by a dead
// letter, a metric and the health checks.
func TestADamagedBatchIsNamed(t *testing.T) {
	c := servicetest.SmallConfig(t, t.TempDir())
	c.Embedded.StoreAny = true
	r := start(t, c)
	bomb(r, bus.Transactions, 1)
	// One record that is no bomb, but larger than its dead letter may be.
	produce(r, kgo.Record{
		Topic: r.Client().Name(bus.Transactions), Key: []byte("k"), Value: bytes.Repeat([]byte{' '}, 3<<20), Partition: 1,
	})
	r.Replay(servicetest.SmallStream(t, 2, 40, 3))

	letters := map[string]string{}
	require.NoError(t, r.Client().ReadAll(t.Context(), bus.DeadLetters, func(rec ingest.Record) error {
		for _, h := range rec.Headers {
			if h.Key == "lethe.dlq.reason" {
				letters[string(rec.Key)] = string(h.Value)
			}
		}
		return nil
	}))
	topic := r.Client().Name(bus.Transactions)
	require.Equal(t, map[string]string{topic + "/1/0": "corrupt_batch", "k": "too_large"}, letters)
	require.Contains(t, r.Page("/readyz"),
		topic+"/1: offsets 0 to 0 were not read and never will be: corrupt_batch")
	require.Contains(t, r.Page("/metrics"),
		`lethe_records_missed_total{reason="corrupt_batch",topic="transactions.v1"} 1`)
}

// A record that lethe did not write ended every process on the topic, and again at
// every start. It is passed over and named.
func TestJunkOnInternalTopicsIsPassedOver(t *testing.T) {
	c := servicetest.SmallConfig(t, t.TempDir())
	r := start(t, c)
	for _, topic := range []bus.Topic{bus.Slices, bus.Models, bus.Snapshots, bus.ErasureStatus} {
		for _, key := range []string{"r", "slice/1/2/0", "!settings/graphs", "!instance/train"} {
			junk := []ingest.Outgoing{{Key: []byte(key), Value: []byte("a-person")}}
			require.NoError(t, r.Client().Write(t.Context(), topic, junk))
		}
		if topic == bus.ErasureStatus {
			continue
		}
		// Framed as lethe does.
		for _, kind := range []wire.Kind{wire.KindSlice, wire.KindSnapshot, wire.KindManifest, wire.KindModel} {
			for shard := range lethe.ShardID(5) {
				key := wire.Key{Kind: kind, Timestep: 9, Shard: shard}
				junk := bus.Chunks(key.String(), []byte("a-person"), []ingest.Header{
					{Key: "lethe.revision", Value: []byte("1")}, {Key: "lethe.previous", Value: []byte("1")},
				}, 100)
				require.NoError(t, r.Client().Write(t.Context(), topic, junk))
			}
		}
	}
	stream := servicetest.SmallStream(t, 3, 40, 3)
	first, second := servicetest.Part(t, stream, 1, 2), servicetest.Part(t, stream, 3, 3)
	r.Replay(first)
	ready := r.Page("/readyz")
	require.Contains(t, ready, "topics: not ok")
	require.NotContains(t, ready, "a-person")
	r.Stop()
	r = start(t, c)
	r.Replay(second)
}

// The largest features that are taken do not end training either.
func TestTheLargestFeaturesAreTrainedOn(t *testing.T) {
	t.Parallel()
	for _, model := range []string{"elliptic-gin", "trees", "logistic"} {
		t.Run(model, func(t *testing.T) {
			c := servicetest.SmallConfig(t, t.TempDir())
			c = c.WithModel(model)
			c.Repair.OneHop = model == "trees" || model == "logistic"
			stream := servicetest.SmallStream(t, 3, 60, 3)
			largest := float32(configs.Default().Ingest.Records.MaxMagnitude)
			for _, step := range stream.Steps {
				for i := range step.Transactions {
					for f := range step.Transactions[i].Features {
						step.Transactions[i].Features[f] = []float32{largest, -largest, 1e-45, 0}[(i*(f+1)+f)%4]
					}
				}
			}
			start(t, c).Replay(stream)
		})
	}
}
