package protocol

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"math"
	"slices"
	"testing"
	"time"

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
	readWhole(t, &d, raw)
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

// A topic that goes by the broker's clock has that time in the header of each batch, whatever producers say.
func TestRecordsHaveTheTimeByWhichTheirTopicGoes(t *testing.T) {
	const attributesAt, firstTimeAt, lastTimeAt = 21, 27, 35
	times := func(attributes uint16, first, last int64) (out []int64) {
		raw := sampleBatch(t, 0)
		binary.BigEndian.PutUint16(raw[attributesAt:], attributes)
		binary.BigEndian.PutUint64(raw[firstTimeAt:], uint64(first))
		binary.BigEndian.PutUint64(raw[lastTimeAt:], uint64(last))
		var d batchReader
		readWhole(t, &d, stretch(raw, 2))
		for _, rec := range d.records {
			out = append(out, rec.Time.UnixMilli())
		}
		return out
	}
	require.Equal(t, []int64{5_000, 5_000, 5_000}, times(0, 5_000, 9_000))
	require.Equal(t, []int64{9_000, 9_000, 9_000}, times(attributeAppendTime, 5_000, 9_000))
	// A producer may say anything.
	none, last := time.Time{}.UnixMilli(), time.Date(9999, 12, 31, 23, 59, 59, 0, time.UTC).UnixMilli()
	require.Equal(t, []int64{last, last, last}, times(0, last, last))
	for _, said := range []int64{math.MinInt64, math.MaxInt64, last + 1_000} {
		require.Equal(t, []int64{none, none, none}, times(0, said, said))
	}
}

func TestACutBatchWaitsForTheNextFetch(t *testing.T) {
	whole, cut := sampleBatch(t, 0), sampleBatch(t, 3)
	for n := range len(cut) {
		d := batchReader{}
		readWhole(t, &d, append(append([]byte{}, whole...), cut[:n]...))
		require.Equal(t, int64(3), d.position)
		require.Len(t, d.records, 3)
	}
	d := batchReader{}
	damage, err := d.readAll(whole[:len(whole)-1], 9)
	require.NoError(t, err)
	require.ErrorIs(t, damage, ErrCorrupt, "it could never get on")
	require.Empty(t, d.records)
}

// TestRecordsStayWithinTheirBatch refuses a batch whose header ends before its last
// record, or with records whose offsets do not rise: the position would pass over
// batches that were not read.
func TestRecordsStayWithinTheirBatch(t *testing.T) {
	swapped := sampleBatch(t, 0)
	// The second record's offset delta is its fourth byte, behind length,
	// attributes and time.
	second := batchHeaderBytes + 1 + int(swapped[batchHeaderBytes]>>1)
	require.Equal(t, byte(1<<1), swapped[second+3], "offset 1, as a signed number of variable length")
	swapped[second+3] = 0
	for name, first := range map[string][]byte{
		"header ends too early":  stretch(sampleBatch(t, 0), 1),
		"header ends before all": stretch(sampleBatch(t, 0), -1),
		"one offset twice":       stretch(swapped, 2),
	} {
		d := batchReader{}
		damage, err := d.readAll(append(first, sampleBatch(t, 3)...), 6)
		require.NoError(t, err, name)
		require.ErrorIs(t, damage, ErrCorrupt, name)
		require.Zero(t, damage.From, name)
		require.LessOrEqual(t, damage.To, int64(3), name)
		require.Empty(t, d.records, name)
	}
}

// readWhole reads batches none of which is damaged.
func readWhole(t *testing.T, d *batchReader, raw []byte) {
	t.Helper()
	damage, err := d.readAll(raw, 99)
	require.NoError(t, err)
	require.Nil(t, damage)
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
			damage, err := d.readAll(raw, 3)
			require.NoError(t, err)
			require.ErrorIs(t, damage, ErrCorrupt, "byte %d bit %d", i, bit)
			require.Zero(t, damage.From)
			require.True(t, 1 <= damage.To && damage.To <= 3)
			require.Empty(t, d.records)
		}
	}
	// With a right checksum, what is inside must still make sense.
	for i := 57; i < len(whole); i++ {
		raw := bytes.Clone(whole)
		raw[i] ^= 0x81
		d := batchReader{}
		_, err := d.readAll(stretch(raw, 2), 3) // must not panic or take for ever
		require.NoError(t, err)
	}
}

func TestCompressedLooksAtEveryWholeBatch(t *testing.T) {
	plain := sampleBatch(t, 0)
	packed := sampleBatch(t, 3)
	packed[crcFromByte+1] |= 4 // zstd
	require.False(t, Compressed(nil))
	require.False(t, Compressed(slices.Concat(plain, plain)))
	require.True(t, Compressed(slices.Concat(plain, packed, plain)))
	require.False(t, Compressed(slices.Concat(plain, packed[:len(packed)-1])), "half a batch has no records yet")
}
