package protocol

import (
	"errors"
	"slices"
	"testing"

	"github.com/segmentio/kafka-go"
	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kmsg"

	"lethe/ingest"
)

// FuzzFetchResponse reads arbitrary answers to a fetch: whatever they hold, the
// reader gets on, and hands out records in order at or after the position.
func FuzzFetchResponse(f *testing.F) {
	aborted := kmsg.FetchResponseTopicPartitionAbortedTransaction{ProducerID: 5}
	batches := slices.Concat(stretch(sampleBatch(f, 0), 7), empty(8, 1), sampleBatch(f, 10))
	f.Add(fetchResponse(batches, aborted).AppendTo(nil))
	f.Add(fetchResponse(batches[:len(batches)-3]).AppendTo(nil))
	f.Add(fetchResponse(nil).AppendTo(nil))
	f.Fuzz(func(t *testing.T, body []byte) {
		if checkFetchCounts(body) != nil {
			return
		}
		response := sampleRequest.message().ResponseKind().(*kmsg.FetchResponse)
		if response.ReadFrom(body) != nil {
			return
		}
		got, err := sampleRequest.read(response)
		if err != nil {
			var code kafka.Error
			require.True(t, errors.Is(err, ErrCorrupt) || errors.As(err, &code), "%v", err)
			return
		}
		require.GreaterOrEqual(t, got.Next, sampleRequest.Position)
		if got.Damaged != nil {
			require.Empty(t, got.Records)
			require.Greater(t, got.Next, sampleRequest.Position, "it gets on")
		}
	})
}

// FuzzRecordBatch puts arbitrary records, compressed or not, behind a header
// whose checksum is right.
func FuzzRecordBatch(f *testing.F) {
	whole := sampleBatch(f, 0)
	f.Add(whole[batchHeaderBytes:], int32(3), int16(0))
	f.Add(whole[batchHeaderBytes:], int32(1<<31-1), int16(attributeControl))
	for codec := range int16(5) {
		f.Add([]byte("\x1f\x8b\x04\x22\x4d\x18\x28\xb5\x2f\xfd"), int32(1), codec)
	}
	f.Fuzz(func(t *testing.T, records []byte, count int32, attributes int16) {
		batch := kmsg.RecordBatch{
			Magic: 2, Attributes: attributes, NumRecords: count, LastOffsetDelta: 2, Records: records,
			Length: int32(batchHeaderBytes - batchPrefixBytes + len(records)),
		}
		b := batchReader{topic: "t"}
		damage, err := b.readAll(stretch(batch.AppendTo(nil), 2), 3)
		require.NoError(t, err)
		if damage != nil {
			require.ErrorIs(t, damage, ErrCorrupt)
			require.Equal(t, [2]int64{0, 3}, [2]int64{damage.From, damage.To})
			require.Empty(t, b.records)
			return
		}
		require.Equal(t, int64(3), b.position)
		require.False(t, slices.ContainsFunc(b.records, func(r ingest.Record) bool { return r.Offset < 0 }))
	})
}
