package bus_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lethe/ingest"
	"lethe/ingest/bus"
	"lethe/internal/testbroker"
)

var labels0 = bus.TopicPartition{Topic: bus.Labels, Partition: 0}

func pinned(key, value string, partition int) ingest.Outgoing {
	return ingest.Outgoing{Key: []byte(key), Value: []byte(value), Pinned: true, Partition: partition}
}

func TestTailFollowsAndResumes(t *testing.T) {
	_, c := open(t, func(cfg *bus.Config) { cfg.MaxTailRecords = 3 })
	positions := map[bus.TopicPartition]int64{}
	for p := range 4 {
		positions[bus.TopicPartition{Topic: bus.Labels, Partition: p}] = bus.FromStart
	}
	seen := map[string]int{}
	// A new tail every 30 records, from the positions of the one before.
	for round := range 5 {
		require.NoError(t, c.Write(t.Context(), bus.Labels, numbered(30)))
		follow := tail(t, c, positions)
		for n := 0; n < 30; {
			batch := next(t, follow)
			require.LessOrEqual(t, len(batch.Records), 3)
			require.GreaterOrEqual(t, batch.End, batch.Next)
			for i, rec := range batch.Records {
				if p := positions[batch.Source]; p != bus.FromStart {
					require.Equal(t, p+int64(i), rec.Offset)
				}
				seen[string(rec.Key)]++
			}
			n += len(batch.Records)
			require.Equal(t, batch.Records[len(batch.Records)-1].Offset+1, batch.Next)
			positions[batch.Source] = batch.Next
		}
		require.Len(t, seen, 30)
		for key, times := range seen {
			require.Equal(t, round+1, times, key)
		}
		require.NoError(t, follow.Close())
		_, err := follow.Next(t.Context())
		require.ErrorIs(t, err, bus.ErrClosed)
	}
}

func TestTailIsQuick(t *testing.T) {
	_, c := open(t, nil)
	follow := tail(t, c, map[bus.TopicPartition]int64{labels0: 0})
	require.NoError(t, c.Write(t.Context(), bus.Labels, []ingest.Outgoing{pinned("warm", "up", 0)}))
	next(t, follow)
	best := time.Hour
	for i := range 20 {
		began := time.Now()
		require.NoError(t, c.Write(t.Context(), bus.Labels, []ingest.Outgoing{pinned(fmt.Sprint(i), "v", 0)}))
		next(t, follow)
		best = min(best, time.Since(began))
	}
	t.Logf("best of 20, written to received: %v", best)
	require.Less(t, best, 20*time.Millisecond)
}

// What is not asked for waits, however much there is of it, and comes once it is.
func TestTailGivesSomeTopicsAlone(t *testing.T) {
	_, c := open(t, nil)
	erasures := bus.TopicPartition{Topic: bus.Erasures}
	follow := tail(t, c, map[bus.TopicPartition]int64{labels0: 0, erasures: 0})
	require.NoError(t, c.Write(t.Context(), bus.Labels, []ingest.Outgoing{pinned("a", "1", 0)}))
	require.NoError(t, c.Write(t.Context(), bus.Erasures, []ingest.Outgoing{pinned("b", "1", 0)}))
	batch, err := follow.NextOf(t.Context(), map[bus.Topic]bool{bus.Erasures: true})
	require.NoError(t, err)
	require.Equal(t, []string{"b"}, keys(batch.Records))
	require.NoError(t, c.Write(t.Context(), bus.Erasures, []ingest.Outgoing{pinned("c", "1", 0)}))
	batch, err = follow.NextOf(t.Context(), map[bus.Topic]bool{bus.Erasures: true})
	require.NoError(t, err)
	require.Equal(t, []string{"c"}, keys(batch.Records))
	require.Equal(t, []string{"a"}, keys(next(t, follow).Records))
}

// Compaction leaves gaps inside, at the start and at the end of what is
// fetched; positions step over all of them.
func TestTailStepsOverCompactedRecords(t *testing.T) {
	b, c := open(t, nil)
	write := func(records ...ingest.Outgoing) {
		require.NoError(t, c.Write(t.Context(), bus.Labels, records))
	}
	// One batch of which only b stays, a batch that goes, one that stays.
	write(pinned("a", "1", 0), pinned("b", "1", 0), pinned("c", "1", 0)) // 0 1 2
	write(pinned("c", "2", 0))                                           // 3
	write(pinned("a", "2", 0), pinned("c", "3", 0))                      // 4 5
	write(pinned("end", "1", 0))                                         // 6
	b.compact(t)

	for from, want := range map[int64][]string{
		0: {"b", "a", "c", "end"}, 1: {"b", "a", "c", "end"}, 2: {"a", "c", "end"},
		3: {"a", "c", "end"}, 5: {"c", "end"}, 6: {"end"},
	} {
		follow := tail(t, c, map[bus.TopicPartition]int64{labels0: from})
		var got []string
		position := from
		for position < 7 {
			batch := next(t, follow)
			require.Greater(t, batch.Next, position)
			position = batch.Next
			got = append(got, keys(batch.Records)...)
		}
		require.Equal(t, want, got, "from %d", from)
		require.Equal(t, int64(7), position)
		require.NoError(t, follow.Close())
	}
	require.Equal(t, []string{"b", "a", "c", "end"}, keys(recordsOf(t, c, bus.Labels)))
}

func TestTailTellsOfPositionsOutsideTheLog(t *testing.T) {
	b, c := open(t, func(cfg *bus.Config) { cfg.ErasureRetention = 24 * time.Hour })
	ctx := t.Context()
	require.NoError(t, c.Write(ctx, bus.Erasures, numbered(5)))
	erasures := bus.TopicPartition{Topic: bus.Erasures}

	_, err := tail(t, c, map[bus.TopicPartition]int64{erasures: 6}).Next(ctx)
	require.ErrorIs(t, err, bus.ErrPastEnd)
	require.ErrorContains(t, err, "erasures.v1/0 from 6")

	// What was removed before it was read is named, and reading goes on.
	require.NoError(t, testbroker.DeleteRecords(ctx, b.config.Brokers, c.Name(bus.Erasures), 0, 3))
	follow := tail(t, c, map[bus.TopicPartition]int64{erasures: 1})
	lost := next(t, follow)
	require.Equal(t, &bus.Gap{
		Topic: c.Name(bus.Erasures), Reason: ingest.RemovedUnread, From: 1, To: 3,
		Detail: "offsets 1 to 2: the log begins at 3",
	}, lost.Gap)
	require.Empty(t, lost.Records)
	require.Equal(t, int64(3), lost.Next)
	require.Equal(t, []string{"k3", "k4"}, keys(next(t, follow).Records))
	require.Equal(t, []string{"k3", "k4"}, keys(next(t,
		tail(t, c, map[bus.TopicPartition]int64{erasures: bus.FromStart})).Records))

	_, err = c.Tail(map[bus.TopicPartition]int64{erasures: -1})
	require.ErrorContains(t, err, "-1")
}

// Whoever waits until a partition was read to its end is told of it where nothing is left to be read.
func TestTailTellsOfAnEmptiedPartition(t *testing.T) {
	b, c := open(t, func(cfg *bus.Config) { cfg.ErasureRetention = 24 * time.Hour })
	ctx := t.Context()
	erasures := bus.TopicPartition{Topic: bus.Erasures}
	require.NoError(t, c.Write(ctx, bus.Erasures, numbered(5)))
	require.NoError(t, testbroker.DeleteRecords(ctx, b.config.Brokers, c.Name(bus.Erasures), 0, -1))
	patient, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	follow := tail(t, c, map[bus.TopicPartition]int64{erasures: bus.FromStart})
	emptied, err := follow.Next(patient)
	require.NoError(t, err)
	require.Equal(t, bus.Batch{Source: erasures, Next: 5, End: 5}, emptied)
	require.NoError(t, c.Write(ctx, bus.Erasures, []ingest.Outgoing{pinned("a", "1", 0)}))
	require.Equal(t, []string{"a"}, keys(next(t, follow).Records))
}

// Retention removes records of compacted topics, too, on the embedded broker: the start is not compaction's doing then.
func TestTailNamesWhatRetentionRemovedUnread(t *testing.T) {
	b, c := open(t, nil)
	for i := range 5 {
		require.NoError(t, c.Write(t.Context(), bus.Labels, []ingest.Outgoing{pinned(fmt.Sprint(i), "v", 0)}))
	}
	setTopic(t, b, c.Name(bus.Labels), "retention.ms", "1")
	time.Sleep(10 * time.Millisecond)
	b.compact(t)
	lost := next(t, tail(t, c, map[bus.TopicPartition]int64{labels0: 1}))
	require.NotNil(t, lost.Gap)
	require.Equal(t, ingest.RemovedUnread, lost.Gap.Reason)
}

// Where nothing expires, a start beyond the position is compaction's doing.
func TestTailGoesOnAfterCompactionMovedTheStart(t *testing.T) {
	b, c := open(t, nil)
	for i := range 5 {
		require.NoError(t, c.Write(t.Context(), bus.Labels, []ingest.Outgoing{pinned("same", fmt.Sprint(i), 0)}))
	}
	require.NoError(t, c.Write(t.Context(), bus.Labels, []ingest.Outgoing{pinned("end", "v", 0)}))
	b.compact(t)
	batch := next(t, tail(t, c, map[bus.TopicPartition]int64{labels0: 1}))
	require.Equal(t, []string{"same", "end"}, keys(batch.Records))
	require.Equal(t, int64(4), batch.Records[0].Offset)
}

func TestTailReportsATopicThatDoesNotExist(t *testing.T) {
	b, _ := open(t, nil)
	other := client(t, b, func(cfg *bus.Config) {
		cfg.TopicPrefix = "other."
		cfg.DialTimeout = 50 * time.Millisecond
	})
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	_, err := tail(t, other, map[bus.TopicPartition]int64{labels0: 0}).Next(ctx)
	require.ErrorIs(t, err, bus.ErrUnknownTopic)
}

func TestReadNewGoesOnWhereItEnded(t *testing.T) {
	_, c := open(t, func(c *bus.Config) { c.Partitions = 2 })
	positions := make(map[int]int64)
	read := func() (values []string) {
		require.NoError(t, c.ReadNew(t.Context(), bus.Labels, positions, func(rec ingest.Record) error {
			values = append(values, string(rec.Value))
			return nil
		}))
		return values
	}
	for _, value := range []string{"a", "b"} {
		require.NoError(t, c.Write(t.Context(), bus.Labels, []ingest.Outgoing{
			{Key: []byte("0"), Value: []byte(value), Pinned: true, Partition: 0},
			{Key: []byte("1"), Value: []byte(value + value), Pinned: true, Partition: 1},
		}))
		require.Equal(t, []string{value, value + value}, read())
		require.Empty(t, read())
	}
	positions[0] = 1000 // of a topic that was there before
	require.Equal(t, []string{"a", "b"}, read())
	require.Equal(t, map[int]int64{0: 2, 1: 2}, positions)
}

func TestReadAllStopsAtTheFirstError(t *testing.T) {
	_, c := open(t, nil)
	require.NoError(t, c.Write(t.Context(), bus.Receipts, numbered(3)))
	stop := errors.New("enough")
	calls := 0
	err := c.ReadAll(t.Context(), bus.Receipts, func(ingest.Record) error {
		calls++
		return stop
	})
	require.ErrorIs(t, err, stop)
	require.Equal(t, 1, calls)
}

// What is written while records gather is read at once, and other topics do not wait.
func TestTailLetsRecordsGather(t *testing.T) {
	const gather = time.Second
	_, c := open(t, nil)
	follow, err := c.TailGathering(map[bus.TopicPartition]int64{labels0: 0}, bus.Gathering{bus.Labels: gather})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, follow.Close()) })
	write := func(key string) {
		require.NoError(t, c.Write(t.Context(), bus.Labels, []ingest.Outgoing{pinned(key, "value", 0)}))
	}
	write("first")
	require.Equal(t, []string{"first"}, keys(next(t, follow).Records))
	began := time.Now()
	write("second")
	write("third")
	require.Equal(t, []string{"second", "third"}, keys(next(t, follow).Records))
	require.GreaterOrEqual(t, time.Since(began), gather/2)

	other := bus.TopicPartition{Topic: bus.Transactions}
	quick, err := c.TailGathering(map[bus.TopicPartition]int64{other: 0}, bus.Gathering{bus.Labels: time.Hour})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, quick.Close()) })
	for _, key := range []string{"fourth", "fifth"} {
		require.NoError(t, c.Write(t.Context(), bus.Transactions, []ingest.Outgoing{pinned(key, "value", 0)}))
		require.Equal(t, []string{key}, keys(next(t, quick).Records))
	}
}
