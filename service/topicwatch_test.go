package service_test

import (
	"context"
	"log/slog"
	"net"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/segmentio/kafka-go"
	"github.com/stretchr/testify/require"

	"lethe/configs"
	"lethe/ingest/bus"
	"lethe/service"
	"lethe/service/servicetest"
)

// set gives a topic a setting, as an operator may by mistake.
func set(t *testing.T, client *kafka.Client, topic, name, value string) {
	t.Helper()
	response, err := client.IncrementalAlterConfigs(t.Context(), &kafka.IncrementalAlterConfigsRequest{
		Resources: []kafka.IncrementalAlterConfigsRequestResource{{
			ResourceType: kafka.ResourceTypeTopic, ResourceName: topic,
			Configs: []kafka.IncrementalAlterConfigsRequestConfig{{
				Name: name, Value: value, ConfigOperation: kafka.ConfigOperationSet,
			}},
		}},
	})
	require.NoError(t, err)
	require.NoError(t, response.Resources[0].Error)
}

// anew deletes a topic and creates another one of its name.
func anew(t *testing.T, client *kafka.Client, topic string, partitions int) {
	t.Helper()
	deleted, err := client.DeleteTopics(t.Context(), &kafka.DeleteTopicsRequest{Topics: []string{topic}})
	require.NoError(t, err)
	require.NoError(t, deleted.Errors[topic])
	created, err := client.CreateTopics(t.Context(), &kafka.CreateTopicsRequest{
		Topics: []kafka.TopicConfig{{Topic: topic, NumPartitions: partitions, ReplicationFactor: 1}},
	})
	require.NoError(t, err)
	require.NoError(t, created.Errors[topic])
}

// A topic that an operator sets to lose records, or that is created anew while lethe runs,
// is named within seconds; on topics that were deleted and created again meanwhile nothing starts.
func TestTopicsThatChangeAreNamed(t *testing.T) {
	b := &outsideBroker{t: t, dir: t.TempDir(), port: freePort(t)}
	b.start()
	c := servicetest.SmallConfig(t, t.TempDir())
	c.Kafka.Brokers = []string{b.address()}
	c.HTTP.Address = net.JoinHostPort("127.0.0.1", strconv.Itoa(freePort(t)))
	r := start(t, c)
	says := func(path, text string) {
		t.Helper()
		require.Eventually(t, func() bool { return strings.Contains(page(t, c.HTTP.Address, path), text) },
			20*time.Second, 50*time.Millisecond, "%s does not say %q", path, text)
	}
	r.Replay(servicetest.SmallStream(t, 2, 40, 3))
	says("/readyz", "topics: ok")

	client := &kafka.Client{Addr: kafka.TCP(b.address()), Timeout: 10 * time.Second}
	name := configs.Default().Kafka.TopicPrefix
	set(t, client, name+string(bus.Labels), "segment.ms", "600000") // lethe runs with it: a warning in the log
	set(t, client, name+string(bus.Transactions), "cleanup.policy", "delete")
	says("/readyz", "transactions.v1: cleanup.policy is delete, want compact")
	says("/metrics", "lethe_topic_problems 1")
	set(t, client, name+string(bus.Transactions), "cleanup.policy", "compact")
	says("/readyz", "topics: ok")
	says("/metrics", "lethe_topic_problems 0")

	anew(t, client, name+string(bus.Labels), c.Kafka.Partitions)
	says("/readyz", "labels.v1: it was deleted and created again while lethe ran")
	time.Sleep(3 * time.Second) // what ended a role did so at once
	says("/readyz", "graphs: ok")
	r.Stop()
	_, err := service.New(context.WithoutCancel(t.Context()), service.Options{
		Config: c, Version: "test", Random: servicetest.Zeros{}, Logger: slog.New(slog.DiscardHandler),
	})
	require.ErrorContains(t, err, name+"labels.v1: topics were deleted and created again since lethe ran")
}

// Topics under another prefix are other topics, also where they hold more than was read of those before: nothing begins
// in the midst of them, and none is made.
func TestAnotherPrefixIsRefused(t *testing.T) {
	b := &outsideBroker{t: t, dir: t.TempDir(), port: freePort(t)}
	b.start()
	c := servicetest.SmallConfig(t, t.TempDir())
	c.Kafka.Brokers = []string{b.address()}
	elsewhere := c
	elsewhere.DataDir, elsewhere.Kafka.TopicPrefix = t.TempDir(), "other."
	for config, steps := range map[*configs.Config]int{&c: 2, &elsewhere: 3} {
		r := start(t, *config)
		r.Replay(servicetest.SmallStream(t, steps, 40, 3))
		r.Stop()
	}
	for _, prefix := range []string{"other.", "third."} {
		moved := c
		moved.Kafka.TopicPrefix = prefix
		_, err := service.New(t.Context(), service.Options{
			Config: moved, Version: "test", Random: servicetest.Zeros{}, Logger: slog.New(slog.DiscardHandler),
		})
		require.ErrorContains(t, err, prefix+"transactions.v1 and others: other topics than lethe ran with")
	}
	topics, err := (&kafka.Client{Addr: kafka.TCP(b.address())}).Metadata(t.Context(), &kafka.MetadataRequest{})
	require.NoError(t, err)
	for _, topic := range topics.Topics {
		require.False(t, strings.HasPrefix(topic.Name, "third."), topic.Name)
	}
	start(t, c).Stop()
}
