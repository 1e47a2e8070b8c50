package role

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lethe"
	"lethe/ingest"
	"lethe/ingest/bus"
	"lethe/pipeline/wire"
)

// suppressing is a batch with a command to suppress something, which says up to where the graphs had taken partitions.
func suppressing(t *testing.T, taken map[string]int64) bus.Batch {
	t.Helper()
	c := &wire.Command{RequestID: "it", Phase: wire.PhaseSuppress, Suppressed: []lethe.Digest{{1}}, Taken: taken}
	records, err := c.Records()
	require.NoError(t, err)
	require.Len(t, records, 1)
	rec := ingest.Record{Topic: string(bus.Control), Key: records[0].Key, Value: records[0].Value}
	return bus.Batch{Source: bus.TopicPartition{Topic: bus.Control}, Next: 1, Records: []ingest.Record{rec}}
}

func halting(t *testing.T, tail Tail) *gate {
	t.Helper()
	s := &Standing{Lead: &Lead{now: time.Now, sharer: dealtAll{}}, Open: []bus.Topic{bus.Control}}
	g := newGate(t.Context(), tail, nil, s, map[bus.TopicPartition]int64{
		{Topic: bus.Transactions}: bus.FromStart, {Topic: bus.Transactions, Partition: 1}: 0, {Topic: bus.Control}: 0,
	})
	g.ends = func(context.Context) (map[bus.TopicPartition]int64, error) {
		return map[bus.TopicPartition]int64{{Topic: bus.Control}: 1}, nil
	}
	return g
}

// What the leader had taken before it suppressed something is given of all partitions before any of what it had not.
func TestPartitionsHaltWhereTheLeaderBeganToSuppress(t *testing.T) {
	one, two := bus.TopicPartition{Topic: bus.Transactions}, bus.TopicPartition{Topic: bus.Transactions, Partition: 1}
	tail := &toldTail{[]bus.Batch{
		suppressing(t, map[string]int64{one.String(): 5, two.String(): 3}),
		{Source: one, Next: 10}, {Source: one, Next: 12}, {Source: two, Next: 4},
	}}
	g := halting(t, tail)
	var given []bus.TopicPartition
	var at []int64
	for range 6 {
		batch, err := g.Next(t.Context())
		require.NoError(t, err)
		given, at = append(given, batch.Source), append(at, batch.Next)
	}
	require.Equal(t, []int64{1, 5, 3, 10, 12, 4}, at)
	require.Equal(t, []bus.TopicPartition{{Topic: bus.Control}, one, two, one, one, two}, given)
}

// So much may wait in a partition that halts that the others are not read. Then none halts any more.
func TestAFullGateHaltsNowhere(t *testing.T) {
	one, two := bus.TopicPartition{Topic: bus.Transactions}, bus.TopicPartition{Topic: bus.Transactions, Partition: 1}
	tail := &toldTail{[]bus.Batch{suppressing(t, map[string]int64{one.String(): 1, two.String(): 1})}}
	for next := range int64(2 * gateBatches) {
		tail.batches = append(tail.batches, bus.Batch{Source: one, Next: next + 1})
	}
	g := halting(t, tail)
	for next := range int64(2 * gateBatches) {
		batch, err := g.Next(t.Context())
		require.NoError(t, err)
		require.Equal(t, max(1, next), batch.Next)
	}
}
