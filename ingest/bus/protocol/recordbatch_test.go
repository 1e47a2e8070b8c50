package protocol

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"testing"

	"github.com/segmentio/kafka-go"
	kafkaprotocol "github.com/segmentio/kafka-go/protocol"
	"github.com/stretchr/testify/require"
)

// sampleBatch is a batch as the broker keeps it: three records from base on.
func sampleBatch(t testing.TB, base int64) []byte {
	t.Helper()
	set := kafkaprotocol.RecordSet{Version: 2, Records: kafka.NewRecordReader(
		kafka.Record{Key: kafka.NewBytes([]byte("a")), Value: kafka.NewBytes([]byte("1"))},
		kafka.Record{Key: kafka.NewBytes([]byte("b")), Headers: []kafka.Header{{Key: "h", Value: []byte("x")}}},
		kafka.Record{Value: kafka.NewBytes([]byte("3"))},
	)}
	var b bytes.Buffer
	_, err := set.WriteTo(&b)
	require.NoError(t, err)
	raw := b.Bytes()[4:] // without the set's length
	binary.BigEndian.PutUint64(raw, uint64(base))
	return raw
}

// stretch makes the batch end later, as if compaction took its last records.
func stretch(raw []byte, lastDelta int32) []byte {
	binary.BigEndian.PutUint32(raw[23:], uint32(lastDelta))
	binary.BigEndian.PutUint32(raw[17:], crc32.Checksum(raw[21:], crc32.MakeTable(crc32.Castagnoli)))
	return raw
}

// empty is a batch of which compaction left the header only; Kafka keeps it to
// remember a producer.
func empty(base int64, lastDelta int32) []byte {
	raw := make([]byte, batchHeaderBytes)
	binary.BigEndian.PutUint64(raw, uint64(base))
	binary.BigEndian.PutUint32(raw[8:], batchHeaderBytes-batchPrefixBytes)
	raw[16] = 2
	return stretch(raw, lastDelta)
}

func TestBatchesEndWhereTheirHeaderSays(t *testing.T) {
	raw := append(stretch(sampleBatch(t, 10), 7), sampleBatch(t, 18)...)
	// Five emptied batches in a row, and one at the end.
	for i := range int64(5) {
		raw = append(raw, empty(21+2*i, 1)...)
	}
	d := batchReader{position: 11}
	require.NoError(t, d.readAll(raw))
	require.Equal(t, int64(31), d.position)
	offsets := make([]int64, len(d.records))
	for i, rec := range d.records {
		offsets[i] = rec.Offset
	}
	require.Equal(t, []int64{11, 12, 18, 19, 20}, offsets)
	require.Equal(t, "h", d.records[0].Headers[0].Key)
	require.True(t, d.records[0].Tombstone())
	require.Nil(t, d.records[1].Key)
}

func TestACutBatchWaitsForTheNextFetch(t *testing.T) {
	whole, cut := sampleBatch(t, 0), sampleBatch(t, 3)
	for n := range len(cut) {
		d := batchReader{}
		require.NoError(t, d.readAll(append(append([]byte{}, whole...), cut[:n]...)))
		require.Equal(t, int64(3), d.position)
		require.Len(t, d.records, 3)
	}
	d := batchReader{}
	require.ErrorIs(t, d.readAll(whole[:len(whole)-1]), ErrCorrupt, "it could never get on")
}

func TestEveryFlippedBitIsNoticed(t *testing.T) {
	whole := sampleBatch(t, 0)
	// The offset and the leader's epoch are outside of the checksum, because a
	// broker sets them; a wrong length cuts the batch.
	for i := 16; i < len(whole); i++ {
		for bit := range 8 {
			raw := bytes.Clone(whole)
			raw[i] ^= 1 << bit
			d := batchReader{}
			require.ErrorIs(t, d.readAll(raw), ErrCorrupt, "byte %d bit %d", i, bit)
		}
	}
	// With a right checksum, what is inside must still make sense.
	for i := 57; i < len(whole); i++ {
		raw := bytes.Clone(whole)
		raw[i] ^= 0x81
		d := batchReader{}
		_ = d.readAll(stretch(raw, 2)) // must not panic or take for ever
	}
}
