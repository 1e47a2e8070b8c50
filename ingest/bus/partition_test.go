package bus_test

import (
	"context"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/segmentio/kafka-go"
	"github.com/stretchr/testify/require"

	"lethe/ingest/bus"
)

// member is one that shares work, as it was told last.
type member struct {
	mu   sync.Mutex
	last bus.Assigned
	// all are the generations that it was told of.
	all   []int64
	leave func()
}

func (m *member) has() []int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.last.Partitions
}

// join begins to share the slices.
func join(t *testing.T, b broker) *member {
	t.Helper()
	c := client(t, b, func(c *bus.Config) { c.SessionTimeout = 6 * time.Second })
	ctx, cancel := context.WithCancel(t.Context())
	m, ended := new(member), make(chan error, 1)
	m.leave = sync.OnceFunc(func() {
		cancel()
		require.NoError(t, <-ended)
	})
	group := bus.GroupConfig{Name: "train", Topic: bus.Slices}
	go func() {
		ended <- bus.Sharer{Client: c}.Share(ctx, group, bus.Member{
			Assigned: func(a bus.Assigned) {
				m.mu.Lock()
				defer m.mu.Unlock()
				m.last, m.all = a, append(m.all, a.Generation)
			},
			Positions: func() map[bus.TopicPartition]int64 {
				at := func(p int) bus.TopicPartition { return bus.TopicPartition{Topic: bus.Slices, Partition: p} }
				return map[bus.TopicPartition]int64{at(0): 7, at(1): 8, at(2): 9, at(3): bus.FromStart}
			},
			Trouble: func(err error) { t.Log(err) },
		})
	}()
	t.Cleanup(m.leave)
	return m
}

// Every partition is somebody's, whoever comes and goes, generations ascend, and tools see
// how far each partition is dealt with.
func TestPartitionsAreSharedByThoseThatAreThere(t *testing.T) {
	b, c := open(t, func(c *bus.Config) { c.Partitions = 4 })
	shared := func(members ...*member) {
		t.Helper()
		require.Eventually(t, func() bool {
			var all []int
			for _, m := range members {
				if len(m.has()) == 0 {
					return false
				}
				all = append(all, m.has()...)
			}
			slices.Sort(all)
			return slices.Equal(all, []int{0, 1, 2, 3})
		}, 30*time.Second, 10*time.Millisecond)
	}
	one := join(t, b)
	shared(one)
	two := join(t, b)
	shared(one, two)
	one.leave()
	shared(two)
	require.True(t, slices.IsSorted(two.all))
	require.Greater(t, two.all[len(two.all)-1], one.all[0])

	raw := &kafka.Client{Addr: kafka.TCP(b.config.Brokers...), Transport: &kafka.Transport{}}
	defer raw.Transport.(*kafka.Transport).CloseIdleConnections()
	topic := c.Name(bus.Slices)
	require.Eventually(t, func() bool {
		found, err := raw.OffsetFetch(t.Context(), &kafka.OffsetFetchRequest{
			GroupID: b.config.TopicPrefix + "train", Topics: map[string][]int{topic: {0, 1, 2, 3}},
		})
		if err != nil || found.Error != nil {
			return false
		}
		committed := make(map[int]int64)
		for _, p := range found.Topics[topic] {
			committed[p.Partition] = p.CommittedOffset
		}
		return committed[0] == 7 && committed[1] == 8 && committed[2] == 9 && committed[3] == -1
	}, 10*time.Second, 50*time.Millisecond)
}
