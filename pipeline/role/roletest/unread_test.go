package roletest

import (
	"testing"

	"github.com/stretchr/testify/require"

	"lethe/ingest"
	"lethe/ingest/bus"
)

// keysIn are the keys that readers of committed records get, and those that readers of every record do, each with why
// the others do not get it.
func keysIn(t *testing.T, b *Bus) (committed, every []string) {
	t.Helper()
	require.NoError(t, b.ReadAll(t.Context(), bus.Labels, func(rec ingest.Record) error {
		committed = append(committed, string(rec.Key))
		return nil
	}))
	require.NoError(t, b.ReadEvery(t.Context(), bus.Labels, func(rec ingest.Record) error {
		every = append(every, string(rec.Key)+" "+string(rec.Uncommitted))
		return nil
	}, nil))
	return committed, every
}

// Behind an open transaction nothing is read or compacted until it ends.
func TestAnOpenTransactionHoldsUpWhatStandsBehind(t *testing.T) {
	write := func(b *Bus, key string) {
		require.NoError(t, b.Write(t.Context(), bus.Labels, []ingest.Outgoing{{Key: []byte(key), Value: []byte("{}")}}))
	}
	for commit, want := range map[bool][2][]string{
		true:  {{"b", "a"}, {"b ", "a "}},
		false: {{"a"}, {"b aborted", "a "}},
	} {
		b := NewBus(nil)
		write(b, "a")
		require.NoError(t, b.WriteOpen(t.Context(), bus.Labels, []ingest.Outgoing{{Key: []byte("b"), Value: []byte("{}")}}))
		write(b, "a")
		require.NoError(t, b.Compact())
		committed, every := keysIn(t, b)
		require.Equal(t, []string{"a"}, committed)
		require.Equal(t, []string{"a ", "b open", "a open"}, every)
		ends, err := b.EndOffsets(t.Context(), bus.Labels)
		require.NoError(t, err)
		require.Equal(t, []int64{1}, ends)
		b.End(bus.TopicPartition{Topic: bus.Labels}, commit)
		require.NoError(t, b.Compact())
		committed, every = keysIn(t, b)
		require.Equal(t, want, [2][]string{committed, every})
	}
}

// An unreadable batch is a gap between two batches for readers that follow the topic; around is called for it where all
// of the topic is read.
func TestAnUnreadableBatchIsAGap(t *testing.T) {
	b, at := NewBus(nil), bus.TopicPartition{Topic: bus.Labels}
	write := func(key string) {
		require.NoError(t, b.Write(t.Context(), bus.Labels, []ingest.Outgoing{{Key: []byte(key), Value: []byte("{}")}}))
	}
	write("a")
	b.WriteUnreadable(at)
	write("b")
	tail, err := b.Follow(map[bus.TopicPartition]int64{at: 0})
	require.NoError(t, err)
	var got []string
	for range 3 {
		batch, err := tail.Next(t.Context())
		require.NoError(t, err)
		switch {
		case batch.Gap != nil:
			require.Equal(t, ingest.CorruptBatch, batch.Gap.Reason)
			got = append(got, "gap")
		default:
			got = append(got, string(batch.Records[0].Key))
		}
	}
	require.Equal(t, []string{"a", "gap", "b"}, got)
	gaps := 0
	around := func(*bus.Gap) { gaps++ }
	require.NoError(t, b.ReadEvery(t.Context(), bus.Labels, func(ingest.Record) error { return nil }, around))
	require.Equal(t, 1, gaps)
	b.RemoveUnreadable()
	committed, _ := keysIn(t, b)
	require.Equal(t, []string{"b"}, committed)
	require.NoError(t, b.ReadEvery(t.Context(), bus.Labels, func(ingest.Record) error { return nil }, around))
	require.Equal(t, 1, gaps)
}
