package protocol

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/klauspost/compress/snappy"
	"github.com/klauspost/compress/zstd"
	"github.com/segmentio/kafka-go/compress"
	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kmsg"

	"lethe/ingest"
)

// Reading goes on behind a batch that cannot be read, wherever it is damaged,
// and what cannot be read is named. The batch before it is read first.
func TestReadingGoesOnBehindADamagedBatch(t *testing.T) {
	before, after := sampleBatch(t, 0), sampleBatch(t, 6)
	for i := 8; i < len(before); i++ {
		if i >= 12 && i < 16 {
			continue // the leader's epoch, which a broker sets
		}
		damaged := sampleBatch(t, 3)
		damaged[i] ^= 0x91
		d := batchReader{}
		damage, err := d.readAll(slices.Concat(before, damaged, after), 9)
		require.NoError(t, err)
		require.Nil(t, damage, "byte %d", i)
		require.Len(t, d.records, 3)

		d = batchReader{position: d.position}
		damage, err = d.readAll(slices.Concat(damaged, after), 9)
		require.NoError(t, err)
		require.ErrorIs(t, damage, ErrCorrupt, "byte %d", i)
		require.Equal(t, [2]int64{3, 6}, [2]int64{damage.From, damage.To}, "byte %d", i)
		require.Equal(t, len(damaged), damage.Bytes)
		require.Empty(t, d.records)

		d = batchReader{position: damage.To}
		readWhole(t, &d, after)
		require.Len(t, d.records, 3)
	}
}

// The last batch has no whole one behind it: its header is believed if it makes
// sense, and else everything to the log's end is damaged.
func TestDamageAtTheEndOfALog(t *testing.T) {
	damaged := sampleBatch(t, 3)
	damaged[70] ^= 1
	d := batchReader{position: 3}
	damage, err := d.readAll(damaged, 6)
	require.NoError(t, err)
	require.Equal(t, [2]int64{3, 6}, [2]int64{damage.From, damage.To})

	binary.BigEndian.PutUint32(damaged[23:], 1<<30)
	damage, err = d.readAll(damaged, 6)
	require.NoError(t, err)
	require.Equal(t, int64(6), damage.To, "a header that lies does not lead past the end")
	_, err = d.readAll(damaged, 3)
	require.ErrorIs(t, err, ErrCorrupt, "there is nowhere to go on from yet")
}

// A small batch must not cost a gigabyte, whatever it holds or claims to hold.
func TestBatchesThatInflateAreBounded(t *testing.T) {
	zeros := make([]byte, 1<<20)
	compressed := func(codec compress.Compression) []byte {
		var b bytes.Buffer
		w := codec.Codec().NewWriter(&b)
		for range 64 {
			_, err := w.Write(zeros)
			require.NoError(t, err)
		}
		require.NoError(t, w.Close())
		return b.Bytes()
	}
	encoder, err := zstd.NewWriter(nil, zstd.WithWindowSize(64<<10)) // as producers do
	require.NoError(t, err)
	declares := encoder.EncodeAll(make([]byte, 64<<20), nil)
	bombs := map[string]struct {
		codec compress.Compression
		body  []byte
	}{
		"gzip": {compress.Gzip, compressed(compress.Gzip)},
		"lz4":  {compress.Lz4, compressed(compress.Lz4)},
		"zstd": {compress.Zstd, compressed(compress.Zstd)},
		// Rejected before it is decompressed.
		"zstd that declares its size": {compress.Zstd, declares},
		// A frame of one segment that claims a gigabyte, and one with such a window.
		"zstd segment":   {compress.Zstd, []byte("\x28\xb5\x2f\xfd\xa0\x00\x00\x00\x40\x01\x00\x00")},
		"zstd window":    {compress.Zstd, []byte("\x28\xb5\x2f\xfd\x00\xa0\x01\x00\x00")},
		"snappy":         {compress.Snappy, append(binary.AppendUvarint(nil, 1<<30), 0)},
		"snappy blocks":  {compress.Snappy, xerial(slices.Repeat([][]byte{snappy.Encode(nil, zeros)}, 64)...)},
		"snappy lengths": {compress.Snappy, xerial(append(binary.AppendUvarint(nil, 1<<30), 0))},
	}
	for name, bomb := range bombs {
		t.Run(name, func(t *testing.T) {
			batch := kmsg.RecordBatch{
				Magic: 2, Attributes: int16(bomb.codec), NumRecords: 1, Records: bomb.body,
				Length: int32(batchHeaderBytes - batchPrefixBytes + len(bomb.body)),
			}
			raw := stretch(batch.AppendTo(nil), 0)
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			d := batchReader{}
			damage, err := d.readAll(raw, 1)
			runtime.ReadMemStats(&after)
			require.NoError(t, err)
			require.ErrorContains(t, damage, "inflates to more than")
			require.Equal(t, int64(1), damage.To)
			took := (after.TotalAlloc - before.TotalAlloc) >> 20
			t.Logf("%d bytes took %d MiB", len(raw), took)
			most := uint64(150)
			if strings.Contains(name, "declares") {
				most = 1
			}
			require.LessOrEqual(t, took, most)
		})
	}
}

// xerial frames blocks as Java's snappy does.
func xerial(blocks ...[]byte) []byte {
	out := []byte("\x82SNAPPY\x00\x00\x00\x00\x01\x00\x00\x00\x01")
	for _, block := range blocks {
		out = append(binary.BigEndian.AppendUint32(out, uint32(len(block))), block...)
	}
	return out
}

func TestSnappyInBlocks(t *testing.T) {
	out, err := inflate(xerial(snappy.Encode(nil, []byte("in ")), snappy.Encode(nil, []byte("blocks"))), 2)
	require.NoError(t, err)
	require.Equal(t, "in blocks", string(out))
	_, err = inflate(xerial([]byte("x"))[:20], 2)
	require.ErrorContains(t, err, "cut short")
}

// The smallest records, of which a batch may hold millions, are taken in parts.
func TestManySmallRecordsAreTakenInParts(t *testing.T) {
	const count = 3*maxRecords + 5
	var body []byte
	for i := range count {
		delta := binary.AppendVarint(nil, int64(i))
		// Attributes, time, offset, no key, no value, no headers.
		record := slices.Concat([]byte{0, 0}, delta, []byte{1, 1, 0})
		body = append(binary.AppendVarint(body, int64(len(record))), record...)
	}
	batch := kmsg.RecordBatch{
		Magic: 2, NumRecords: count, Records: body, Length: int32(batchHeaderBytes - batchPrefixBytes + len(body)),
	}
	raw := stretch(batch.AppendTo(nil), count-1)
	position := int64(0)
	for position < count {
		d := batchReader{position: position}
		readWhole(t, &d, append([]byte{}, raw...))
		require.LessOrEqual(t, len(d.records), maxRecords)
		require.Equal(t, position, d.records[0].Offset)
		require.Equal(t, position+int64(len(d.records)), d.position)
		position = d.position
	}
	require.Equal(t, int64(count), position)
}

// A record with more headers than are taken one by one was damage, and all of its batch with it. The bytes of the
// others are there for a search.
func TestManyHeadersAreOne(t *testing.T) {
	encoded := func(headers int) []byte {
		rec := kmsg.Record{Key: []byte("k"), Value: []byte("v")}
		for i := range headers {
			rec.Headers = append(rec.Headers, kmsg.Header{Key: fmt.Sprint("h", i), Value: []byte(fmt.Sprint("id-", i))})
		}
		body := rec.AppendTo(nil)
		rec.Length = int32(len(body) - 1) // the length itself is a byte as long as it is 0
		return rec.AppendTo(nil)
	}
	for _, count := range []int{maxHeaders, maxHeaders + 1, 5 * maxHeaders} {
		body := encoded(count)
		batch := kmsg.RecordBatch{
			Magic: 2, NumRecords: 1, Records: body, Length: int32(batchHeaderBytes - batchPrefixBytes + len(body)),
		}
		var d batchReader
		readWhole(t, &d, stretch(batch.AppendTo(nil), 0))
		require.Len(t, d.records, 1)
		rec := d.records[0]
		require.Equal(t, "k", string(rec.Key))
		require.Equal(t, "v", string(rec.Value))
		require.Equal(t, ingest.Header{Key: "h9999", Value: []byte("id-9999")}, rec.Headers[maxHeaders-1])
		require.Len(t, rec.Headers, min(count, maxHeaders+1))
		if count > maxHeaders {
			more := rec.Headers[maxHeaders]
			require.Empty(t, more.Key)
			require.Contains(t, string(more.Value), fmt.Sprint("id-", count-1))
			require.Contains(t, string(more.Value), "id-10000")
		}
	}
}

// Whatever says that it has more headers than it has bytes for is damage.
func TestHeadersThatAreNotThereAreDamage(t *testing.T) {
	record := slices.Concat([]byte{0, 0, 0, 1, 1}, binary.AppendVarint(nil, 1<<40), make([]byte, 3*maxHeaders))
	body := append(binary.AppendVarint(nil, int64(len(record))), record...)
	batch := kmsg.RecordBatch{
		Magic: 2, NumRecords: 1, Records: body, Length: int32(batchHeaderBytes - batchPrefixBytes + len(body)),
	}
	d := batchReader{}
	damage, err := d.readAll(stretch(batch.AppendTo(nil), 0), 1)
	require.NoError(t, err)
	require.ErrorIs(t, damage, ErrCorrupt)
	require.Empty(t, d.records)
}
