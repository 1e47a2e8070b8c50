package protocol

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"hash/crc32"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kmsg"

	"lethe/ingest"
)

// batchOf puts bytes behind a header that claims count records and has the right checksum.
func batchOf(records []byte, count int32, attributes int16) []byte {
	batch := kmsg.RecordBatch{
		Magic: 2, Attributes: attributes, NumRecords: count, LastOffsetDelta: count - 1, Records: records,
		Length: int32(batchHeaderBytes - batchPrefixBytes + len(records)),
	}
	raw := batch.AppendTo(nil)
	binary.BigEndian.PutUint32(raw[crcFromByte-4:], crc32.Checksum(raw[crcFromByte:], crc32.MakeTable(crc32.Castagnoli)))
	return raw
}

func recordOf(offset int32) []byte {
	rec := kmsg.Record{
		OffsetDelta: offset, Key: []byte("k"), Value: []byte("v"), Headers: []kmsg.Header{{Key: "h", Value: nil}},
	}
	rec.Length = int32(len(rec.AppendTo(nil)) - 1)
	return rec.AppendTo(nil)
}

func TestCheckProduced_BatchNoReaderReads_IsRefused(t *testing.T) {
	two := append(recordOf(0), recordOf(1)...)
	require.NoError(t, CheckProduced(batchOf(two, 2, 0)))
	for name, raw := range map[string][]byte{
		"length of 2^31-1":    batchOf(append(binary.AppendVarint(nil, 1<<31-1), two...), 1, 0),
		"negative length":     batchOf(append(binary.AppendVarint(nil, -5), two...), 1, 0),
		"more than there are": batchOf(two, 3, 0),
		"fewer":               batchOf(two, 1, 0),
		"none":                batchOf(nil, 0, 0),
		"negative count":      batchOf(nil, -4, 0),
		"offset twice":        batchOf(append(recordOf(0), recordOf(0)...), 2, 0),
		"not compressed":      batchOf(two, 2, 1),
		"unknown codec":       batchOf(two, 2, 7),
		"inner length":        batchOf([]byte{14, 0, 0, 0, 100, 0, 0, 0}, 1, 0),
	} {
		require.ErrorIs(t, CheckProduced(raw), ErrCorrupt, name)
	}
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	_, err := w.Write(make([]byte, maxInflatedBytes+1))
	require.NoError(t, err)
	require.NoError(t, w.Close())
	require.ErrorIs(t, CheckProduced(batchOf(packed.Bytes(), 1, 1)), ErrInflated)
}

func TestCheckStored_CompactedBatch_Passes(t *testing.T) {
	raw := batchOf(append(recordOf(1), recordOf(5)...), 2, 0)
	binary.BigEndian.PutUint32(raw[23:], 5)
	require.NoError(t, CheckStored(raw))
	require.ErrorIs(t, CheckProduced(raw), ErrCorrupt)
	require.ErrorIs(t, CheckStored(batchOf(binary.AppendVarint(nil, 1<<31-1), 1, 0)), ErrCorrupt)
}

// FuzzCheckProduced: a batch that passes is read to its last record.
func FuzzCheckProduced(f *testing.F) {
	f.Add(append(recordOf(0), recordOf(1)...), int32(2), int16(0))
	f.Add(binary.AppendVarint(nil, 1<<31-1), int32(1), int16(0))
	f.Fuzz(func(t *testing.T, records []byte, count int32, attributes int16) {
		raw := batchOf(records, count, attributes&attributeCompression)
		if CheckProduced(raw) != nil {
			return
		}
		require.NoError(t, CheckStored(raw))
		n := int32(0)
		_, err := EachRecord("t", 0, raw, func(ingest.Record) error { n++; return nil })
		require.NoError(t, err)
		require.Equal(t, count, n)
	})
}
