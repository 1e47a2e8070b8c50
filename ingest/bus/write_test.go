package bus_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lethe/ingest"
	"lethe/ingest/bus"
)

func TestWriteReadsBackAsWritten(t *testing.T) {
	began := time.Now().Truncate(time.Millisecond)
	_, c := open(t, nil)
	at := time.UnixMilli(1_600_000_000_000).UTC()
	require.NoError(t, c.Write(t.Context(), bus.DeadLetters, []ingest.Outgoing{
		{Key: []byte("a"), Value: []byte("1"), Time: at,
			Headers: []ingest.Header{{Key: "h", Value: []byte("x")}, {Key: "empty", Value: []byte{}}}},
		{Key: []byte("b"), Value: []byte{}},
		{Key: []byte("c")},
		{Key: []byte{}, Value: []byte("4")},
	}))
	var got []ingest.Record
	require.NoError(t, c.ReadAll(t.Context(), bus.DeadLetters, func(rec ingest.Record) error {
		got = append(got, rec)
		return nil
	}))
	require.Len(t, got, 4)
	require.Equal(t, ingest.Record{
		Topic: c.Name(bus.DeadLetters), Offset: 0, Key: []byte("a"), Value: []byte("1"), Time: at,
		Headers: []ingest.Header{{Key: "h", Value: []byte("x")}, {Key: "empty", Value: []byte{}}},
	}, got[0])
	require.NotNil(t, got[1].Value)
	require.Empty(t, got[1].Value)
	require.False(t, got[1].Tombstone())
	require.False(t, got[1].Time.Before(began))
	require.True(t, got[2].Tombstone())
	require.NotNil(t, got[3].Key)
}

// Many records, larger together than any message may be, keep their order
// within each partition, and equal keys meet.
func TestWriteCutsAndKeepsOrder(t *testing.T) {
	_, c := open(t, func(cfg *bus.Config) { cfg.MaxBatchBytes = 20_000 })
	const n = 3000
	records := numbered(n)
	for i := range records {
		records[i].Value = []byte(fmt.Sprint(i, strings.Repeat(".", i%400)))
	}
	require.NoError(t, c.Write(t.Context(), bus.Transactions, records))
	last := map[int]int{}
	total := 0
	require.NoError(t, c.ReadAll(t.Context(), bus.Transactions, func(rec ingest.Record) error {
		var i int
		_, err := fmt.Sscan(strings.TrimRight(string(rec.Value), "."), &i)
		require.NoError(t, err)
		require.Equal(t, bus.PartitionOf(rec.Key, 4), rec.Partition)
		require.Less(t, last[rec.Partition]-1, i)
		last[rec.Partition] = i + 1
		total++
		return nil
	}))
	require.Equal(t, n, total)
	ends, err := c.EndOffsets(t.Context(), bus.Transactions)
	require.NoError(t, err)
	require.Equal(t, int64(n), ends[0]+ends[1]+ends[2]+ends[3])
	require.NotContains(t, ends, int64(0))
}

// A key that came compressed may be larger than its topic takes: whatever has it is deleted all the same.
func TestALargeKeyIsDeleted(t *testing.T) {
	_, c := open(t, nil)
	gone := ingest.Outgoing{Key: bytes.Repeat([]byte("k"), 2<<20), Pinned: true, Partition: 1}
	all := []ingest.Outgoing{{Key: []byte("a")}, gone, {Key: []byte("b")}}
	require.NoError(t, c.Write(t.Context(), bus.Transactions, all))
	read := 0
	require.NoError(t, c.ReadAll(t.Context(), bus.Transactions, func(rec ingest.Record) error {
		if len(rec.Key) > 1 {
			require.Equal(t, gone.Key, rec.Key)
		}
		require.True(t, rec.Tombstone())
		read++
		return nil
	}))
	require.Equal(t, 3, read)
}

func TestWriteRefusesWhatCannotBe(t *testing.T) {
	_, c := open(t, nil)
	big := ingest.Outgoing{Key: []byte("k"), Value: make([]byte, 3<<20)}
	require.ErrorIs(t, c.Write(t.Context(), bus.DeadLetters, []ingest.Outgoing{big}), bus.ErrTooLarge)
	pinned := ingest.Outgoing{Key: []byte("k"), Value: []byte("v"), Pinned: true, Partition: 4}
	require.ErrorIs(t, c.Write(t.Context(), bus.Labels, []ingest.Outgoing{pinned}), bus.ErrUnknownTopic)
	pinned.Partition = 3
	require.NoError(t, c.Write(t.Context(), bus.Labels, []ingest.Outgoing{pinned}))
	ends, err := c.EndOffsets(t.Context(), bus.Labels)
	require.NoError(t, err)
	require.Equal(t, []int64{0, 0, 0, 1}, ends)
	require.NoError(t, c.Write(t.Context(), bus.Labels, nil))
}
