package bus_test

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/segmentio/kafka-go"
	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kfake"

	"lethe/ingest"
	"lethe/ingest/bus"
	"lethe/ingest/embedded"
	"lethe/internal/leakcheck"
)

func TestMain(m *testing.M) { leakcheck.Main(m) }

// broker is what a test talks to: an embedded broker of its own, or topics of
// its own on the brokers that LETHE_BROKERS names.
type broker struct {
	config   bus.Config
	embedded *embedded.Broker
}

// compact waits until the log is compacted; only an embedded broker can be
// told to.
func (b broker) compact(t *testing.T) {
	t.Helper()
	if b.embedded == nil {
		t.Skip("LETHE_BROKERS is set: a broker that is not ours compacts when it likes")
	}
	require.NoError(t, b.embedded.Compact())
}

func startBroker(t *testing.T) broker {
	t.Helper()
	if addresses := os.Getenv("LETHE_BROKERS"); addresses != "" {
		c := bus.At(strings.Split(addresses, ",")...)
		c.TopicPrefix, c.ErasureRetention = fmt.Sprintf("test-%d-%s.", time.Now().UnixNano(), t.Name()), bus.Forever
		return broker{config: c}
	}
	return startEmbedded(t, embedded.Config{CleanOnDemand: true, DeleteTopics: true})
}

func startEmbedded(t *testing.T, c embedded.Config) broker {
	t.Helper()
	b, err := embedded.Start(t.TempDir(), c, slog.New(slog.DiscardHandler))
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, b.Close()) })
	return broker{b.Config(), b}
}

// trustingBroker is a broker that stores batches which the embedded broker refuses.
func trustingBroker(t *testing.T) broker {
	t.Helper()
	if os.Getenv("LETHE_BROKERS") != "" {
		return startBroker(t)
	}
	return startEmbedded(t, embedded.Config{CleanOnDemand: true, StoreAny: true})
}

// open starts a broker, applies the topics and returns a client.
func open(t *testing.T, change func(*bus.Config)) (broker, *bus.Client) {
	t.Helper()
	b := startBroker(t)
	c := client(t, b, change)
	require.NoError(t, c.Admin().Apply(t.Context()))
	return b, c
}

func client(t *testing.T, b broker, change func(*bus.Config)) *bus.Client {
	t.Helper()
	cfg := b.config
	if change != nil {
		change(&cfg)
	}
	c, err := bus.Open(cfg)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, c.Close()) })
	return c
}

// fakeCluster starts brokers that a test controls, which have labels.v1, and has a client know them.
func fakeCluster(t *testing.T, cfg *bus.Config, brokers int, options ...kfake.Opt) *kfake.Cluster {
	t.Helper()
	options = append(options, kfake.NumBrokers(brokers), kfake.SeedTopics(1, cfg.Name(bus.Labels)))
	cluster, err := kfake.NewCluster(options...)
	require.NoError(t, err)
	t.Cleanup(cluster.Close)
	cfg.Brokers = cluster.ListenAddrs()
	return cluster
}

// patientClient is one that waits for whatever may pass.
func patientClient(t *testing.T, cfg bus.Config, w *watched) *bus.Client {
	t.Helper()
	c, err := bus.OpenPatient(cfg, w.watch)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, c.Close()) })
	return c
}

// recordsOf are the records of a topic.
func recordsOf(t *testing.T, c *bus.Client, topic bus.Topic) (all []ingest.Record) {
	t.Helper()
	require.NoError(t, c.ReadAll(t.Context(), topic, func(rec ingest.Record) error {
		all = append(all, rec)
		return nil
	}))
	return all
}

func tail(t *testing.T, c *bus.Client, positions map[bus.TopicPartition]int64) *bus.Tail {
	t.Helper()
	out, err := c.Tail(positions)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, out.Close()) })
	return out
}

func next(t *testing.T, from *bus.Tail) bus.Batch {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	batch, err := from.Next(ctx)
	require.NoError(t, err)
	return batch
}

// raw asks the broker what lethe's own client does not.
func (b broker) raw(t *testing.T) *kafka.Client {
	transport := &kafka.Transport{}
	t.Cleanup(transport.CloseIdleConnections)
	return &kafka.Client{Addr: kafka.TCP(b.config.Brokers...), Transport: transport}
}

// setTopic gives a topic another setting, behind the back of lethe. A broker shows a change a moment after
// it has taken it.
func setTopic(t *testing.T, b broker, topic, name, value string) {
	t.Helper()
	answer, err := b.raw(t).IncrementalAlterConfigs(t.Context(), &kafka.IncrementalAlterConfigsRequest{
		Resources: []kafka.IncrementalAlterConfigsRequestResource{{
			ResourceType: kafka.ResourceTypeTopic, ResourceName: topic,
			Configs: []kafka.IncrementalAlterConfigsRequestConfig{{
				Name: name, Value: value, ConfigOperation: kafka.ConfigOperationSet,
			}},
		}},
	})
	require.NoError(t, err)
	for _, resource := range answer.Resources {
		require.NoError(t, resource.Error)
	}
}

func put(key, value string) ingest.Outgoing {
	return ingest.Outgoing{Key: []byte(key), Value: []byte(value)}
}

func numbered(n int) (out []ingest.Outgoing) {
	for i := range n {
		out = append(out, put(fmt.Sprint("k", i), fmt.Sprint("v", i)))
	}
	return out
}

func keys(records []ingest.Record) (out []string) {
	for _, rec := range records {
		out = append(out, string(rec.Key))
	}
	return out
}
