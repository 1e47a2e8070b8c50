package protocol_test

import (
	"encoding/binary"
	"hash/crc32"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kmsg"

	"lethe/ingest"
	"lethe/ingest/bus/protocol"
)

// summed sets the checksum of a batch, as a hostile producer would.
func summed(raw []byte) []byte {
	if len(raw) > 21 {
		binary.BigEndian.PutUint32(raw[17:], crc32.Checksum(raw[21:], crc32.MakeTable(crc32.Castagnoli)))
	}
	return raw
}

// A batch that passes the check is read to its end: what the embedded broker stores, no reader drops.
func FuzzCheckBatches(f *testing.F) {
	record := kmsg.Record{Key: []byte("k"), Value: []byte("v"), Headers: []kmsg.Header{{Key: "h", Value: []byte("w")}}}
	record.Length = int32(len(record.AppendTo(nil)) - 1)
	for _, attributes := range []int16{0, 1, 2, 3, 4, 16, 32} {
		b := kmsg.RecordBatch{Magic: 2, NumRecords: 1, Attributes: attributes, Records: record.AppendTo(nil)}
		raw := b.AppendTo(nil)
		binary.BigEndian.PutUint32(raw[8:], uint32(len(raw)-12))
		f.Add(raw)
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		whole, err := protocol.CheckBatches(raw)
		if err != nil || whole == 0 || whole != len(raw) || whole != 12+int(binary.BigEndian.Uint32(raw[8:])) {
			return // not one batch
		}
		if first := int64(binary.BigEndian.Uint64(raw)); first != 0 {
			return // the broker chooses offsets
		}
		read, err := protocol.EachRecord("t", 0, summed(raw), func(ingest.Record) error { return nil })
		require.NoError(t, err)
		require.Equal(t, whole, read)
	})
}
