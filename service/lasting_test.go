package service_test

import (
	"net"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/segmentio/kafka-go"
	"github.com/stretchr/testify/require"

	"lethe/configs"
	"lethe/ingest/bus"
	"lethe/service/servicetest"
)

// What lasts hides nothing that comes later: not at another place, not at the same one, and not what is wrong with a
// topic's settings. What was found first stands first, of what is too much there is a number, and the log is told once.
func TestWhatLastsHidesNothing(t *testing.T) {
	b := &outsideBroker{t: t, dir: t.TempDir(), port: freePort(t)}
	b.start()
	c := servicetest.SmallConfig(t, t.TempDir())
	c.Kafka.Brokers = []string{b.address()}
	c.Kafka.Partitions = 12
	c.HTTP.Address = net.JoinHostPort("127.0.0.1", strconv.Itoa(freePort(t)))
	start(t, c)
	ready := func() string {
		for line := range strings.Lines(page(t, c.HTTP.Address, "/readyz")) {
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
