package service_test

import (
	"strings"
	"testing"
	"time"

	"github.com/segmentio/kafka-go"
	"github.com/stretchr/testify/require"

	"lethe/configs"
	"lethe/ingest/bus"
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
	r := start(t, c)
	says := func(path, text string) {
		t.Helper()
		require.Eventually(t, func() bool { return strings.Contains(r.Page(path), text) },
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
	require.ErrorContains(t, refused(t, c), name+"labels.v1: topics were deleted and created again since lethe ran")
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
		require.ErrorContains(t, refused(t, moved), prefix+"transactions.v1 and others: other topics than lethe ran with")
	}
	topics, err := (&kafka.Client{Addr: kafka.TCP(b.address())}).Metadata(t.Context(), &kafka.MetadataRequest{})
	require.NoError(t, err)
	for _, topic := range topics.Topics {
		require.False(t, strings.HasPrefix(topic.Name, "third."), topic.Name)
	}
	start(t, c).Stop()
}

// What lasts hides nothing that comes later: not at another place, not at the same one, and not what is wrong with a
// topic's settings. What was found first stands first, of what is too much there is a number, and the log is told once.
func TestWhatLastsHidesNothing(t *testing.T) {
	b := &outsideBroker{t: t, dir: t.TempDir(), port: freePort(t)}
	b.start()
	c := servicetest.SmallConfig(t, t.TempDir())
	c.Kafka.Brokers = []string{b.address()}
	c.Kafka.Partitions = 12
	r := start(t, c)
	ready := func() string {
		for line := range strings.Lines(r.Page("/readyz")) {
			if said, found := strings.CutPrefix(line, "topics: "); found {
				return strings.TrimSuffix(said, "\n")
			}
		}
		return ""
	}
	says := func(texts ...string) {
		t.Helper()
		require.Eventually(t, func() bool {
			line := ready()
			for _, text := range texts {
				if !strings.Contains(line, text) {
					return false
				}
			}
			return true
		}, 20*time.Second, 50*time.Millisecond, "%q is not all said", texts)
	}
	client := &kafka.Client{Addr: kafka.TCP(b.address()), Timeout: 10 * time.Second}
	name := configs.Default().Kafka.Name

	write := func(topic bus.Topic, junk ...kafka.Message) {
		t.Helper()
		w := &kafka.Writer{
			Addr: client.Addr, Topic: name(topic), Balancer: &kafka.RoundRobin{ChunkSize: 1}, BatchTimeout: time.Millisecond,
		}
		require.NoError(t, w.WriteMessages(t.Context(), junk...))
		require.NoError(t, w.Close())
	}
	write(bus.Control, kafka.Message{Key: []byte("junk")})
	says(name(bus.Control) + "/0: offset")
	first := ready()
	set(t, client, name(bus.Transactions), "cleanup.policy", "delete")
	set(t, client, name(bus.Labels), "cleanup.policy", "delete")
	says(first, "labels.v1: cleanup.policy is delete", "transactions.v1: cleanup.policy is delete", "(2 in all;")
	anew(t, client, name(bus.Labels), c.Kafka.Partitions+1)
	says(first, "labels.v1: it was deleted and created again", "labels.v1: it has 13 partitions, and had 12",
		"transactions.v1: cleanup.policy")
	require.True(t, strings.HasPrefix(ready(), first), ready())

	// One fault for each partition of models.v1.
	write(bus.Models, make([]kafka.Message, 2*c.Kafka.Partitions)...)
	says(first, "more, which the log names", "transactions.v1: cleanup.policy")
	require.Less(t, len(ready()), 3000)
}

// One start with another number of partitions is refused before anything is changed,
// so that the next one, with the old number, goes on.
func TestAStartWithMorePartitionsIsRefusedAndHarmless(t *testing.T) {
	t.Parallel()
	stream := servicetest.SmallStream(t, 4, 50, 6)
	first := servicetest.Part(t, stream, 1, 2)
	rest := servicetest.Part(t, stream, 3, 4)
	c := servicetest.SmallConfig(t, t.TempDir())
	s := start(t, c)
	s.Replay(first)
	s.Stop()

	wide := c
	wide.Kafka.Partitions = 6
	err := refused(t, wide)
	require.ErrorContains(t, err, "partitions cannot be added")
	require.ErrorContains(t, err, "has 2 partitions, want 6")

	s = start(t, c)
	counts, err := s.Client().Admin().Partitions(t.Context())
	require.NoError(t, err)
	require.Equal(t, 2, counts[bus.Transactions])
	s.Replay(rest)
	m := newMirror(t, c, stream)
	m.settle(1, 2, 3, 4)
	requireEqual(s, m.build())
}
