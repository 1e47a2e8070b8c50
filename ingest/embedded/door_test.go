package embedded_test

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"io"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"
	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"lethe/ingest"
	"lethe/ingest/bus"
	"lethe/ingest/bus/protocol"
	"lethe/ingest/embedded"
)

// send writes bytes to a broker and returns what comes back until it closes the connection, or a moment has passed.
func send(t *testing.T, address string, raw []byte) (answer []byte, closed bool) {
	t.Helper()
	c, err := net.Dial("tcp", address)
	require.NoError(t, err)
	defer c.Close()
	require.NoError(t, c.SetDeadline(time.Now().Add(5*time.Second)))
	_, _ = c.Write(raw) // a broker that refuses the beginning reads no more
	answer, err = io.ReadAll(c)
	return answer, err == nil || !os.IsTimeout(err)
}

// framed is a request of a kind behind its length.
func framed(key, version int16, body []byte) []byte {
	out := make([]byte, 4)
	out = binary.BigEndian.AppendUint16(out, uint16(key))
	out = binary.BigEndian.AppendUint16(out, uint16(version))
	out = append(out, 0, 0, 0, 7, 0xff, 0xff) // correlation id, no client id
	out = append(out, body...)
	binary.BigEndian.PutUint32(out, uint32(len(out)-4))
	return out
}

// batch has one record, whose length and compression are chosen.
func batch(records []byte, count int32, attributes int16) []byte {
	b := kmsg.RecordBatch{
		Magic: 2, Attributes: attributes, LastOffsetDelta: count - 1, NumRecords: count, ProducerID: -1, ProducerEpoch: -1,
		FirstSequence: -1, Records: records,
	}
	raw := b.AppendTo(nil)
	binary.BigEndian.PutUint32(raw[8:], uint32(len(raw)-12))
	binary.BigEndian.PutUint32(raw[17:], crc32.Checksum(raw[21:], crc32.MakeTable(crc32.Castagnoli)))
	return raw
}

// record is a well-formed one with a value.
func record(delta int64, value []byte) []byte {
	body := []byte{0}
	body = binary.AppendVarint(body, 0)
	body = binary.AppendVarint(body, delta)
	body = append(binary.AppendVarint(body, 1), 'k')
	body = append(binary.AppendVarint(body, int64(len(value))), value...)
	body = binary.AppendVarint(body, 0)
	return append(binary.AppendVarint(nil, int64(len(body))), body...)
}

// produce sends a batch to receipts.v1 and returns the code and the message of the answer.
func produce(t *testing.T, b *embedded.Broker, raw []byte) *kmsg.ProduceResponse {
	t.Helper()
	request := kmsg.NewPtrProduceRequest()
	request.Acks, request.TimeoutMillis = -1, 1000
	topic := kmsg.NewProduceRequestTopic()
	topic.Topic = "lethe.receipts.v1"
	partition := kmsg.NewProduceRequestTopicPartition()
	partition.Records = raw
	topic.Partitions = append(topic.Partitions, partition)
	request.Topics = append(request.Topics, topic)
	request.SetVersion(8)
	c, err := net.Dial("tcp", b.Config().Brokers[0])
	require.NoError(t, err)
	defer c.Close()
	require.NoError(t, c.SetDeadline(time.Now().Add(10*time.Second)))
	answer, err := protocol.Exchange(c, "test", request, 1<<20)
	require.NoError(t, err)
	return answer.(*kmsg.ProduceResponse)
}

// requireAlive fails unless the broker takes and returns a record.
func requireAlive(t *testing.T, c *bus.Client, key string) {
	t.Helper()
	require.NoError(t, c.Write(t.Context(), bus.Receipts, []ingest.Outgoing{put(key, "alive")}))
	require.Equal(t, "alive", readAll(t, c, bus.Receipts)[key])
}

// Z1: a request of an unknown kind, and one in an unknown version, ended the process.
func TestDoor_UnknownRequest_ClosesConnection(t *testing.T) {
	b, c := start(t, t.TempDir(), embedded.Config{CleanOnDemand: true})
	for _, key := range []int16{-1, 71, 999, 32767} {
		answer, closed := send(t, b.Config().Brokers[0], framed(key, 0, nil))
		require.True(t, closed, "kind %d", key)
		require.Empty(t, answer)
	}
	_, closed := send(t, b.Config().Brokers[0], framed(0, -3, nil))
	require.True(t, closed)
	// Four billion tagged fields in 40 bytes kept a processor busy for minutes.
	_, closed = send(t, b.Config().Brokers[0], framed(1, 12, []byte{0xff, 0xff, 0xff, 0xff, 0x0f, 0, 0, 0, 0, 0}))
	require.True(t, closed)
	_, closed = send(t, b.Config().Brokers[0],
		[]byte("POST / HTTP/1.1\r\nHost: 127.0.0.1:9092\r\nContent-Length: 9\r\n\r\n{\"a\":\"b\"}"))
	require.True(t, closed, "HTTP")
	requireAlive(t, c, "after")
}

// Z3: a length prefix of four bytes allocated up to 4 GiB.
func TestDoor_LengthPrefix_AllocatesNothing(t *testing.T) {
	b, c := start(t, t.TempDir(), embedded.Config{CleanOnDemand: true})
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for _, size := range []uint32{0, 9, 1 << 31, 0xffffffff, 2_000_000_000} {
		raw := binary.BigEndian.AppendUint16(binary.BigEndian.AppendUint32(nil, size), 0)
		_, closed := send(t, b.Config().Brokers[0], raw)
		require.True(t, closed, "a length of %d", size)
	}
	// A length within the bound allocates as bytes arrive.
	half, err := net.Dial("tcp", b.Config().Brokers[0])
	require.NoError(t, err)
	defer half.Close()
	_, err = half.Write(binary.BigEndian.AppendUint16(binary.BigEndian.AppendUint32(nil, 40<<20), 0))
	require.NoError(t, err)
	time.Sleep(100 * time.Millisecond)
	runtime.ReadMemStats(&after)
	require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(16<<20))
	requireAlive(t, c, "after")
}

// Z2: a record that claims more bytes than its batch has was stored, and ended the next compaction and each later
// start.
func TestDoor_BatchThatCannotBeWalked_Refused(t *testing.T) {
	b, c := start(t, t.TempDir(), embedded.Config{CleanOnDemand: true})
	claims := binary.AppendVarint(nil, 1<<31-1)
	for name, raw := range map[string][]byte{
		"a length beyond the batch":   batch(append(claims, make([]byte, 20)...), 1, 0),
		"more records than there are": batch(record(0, []byte("v")), 2, 0),
		"bytes behind the records":    batch(append(record(0, []byte("v")), 1, 2, 3), 1, 0),
		"offsets that do not rise":    batch(append(record(1, []byte("v")), record(0, []byte("v"))...), 2, 0),
		"unreadable compression":      batch([]byte("not zstd"), 1, 4),
	} {
		answer := produce(t, b, raw)
		require.Len(t, answer.Topics, 1, name)
		part := answer.Topics[0].Partitions[0]
		require.Equal(t, kerr.InvalidRecord.Code, part.ErrorCode, name)
		require.NotNil(t, part.ErrorMessage, name)
	}
	require.Zero(t, produce(t, b, batch(record(0, []byte("v")), 1, 0)).Topics[0].Partitions[0].ErrorCode, "a right one")
	require.NoError(t, b.Compact())
	requireAlive(t, c, "after")
}

// Z4 and B7: a small batch that decompresses to gigabytes did so at each compaction; one of more than readers accept
// was acknowledged and then dropped.
func TestDoor_BatchThatInflatesBeyondTheBound_TooLarge(t *testing.T) {
	b, c := start(t, t.TempDir(), embedded.Config{CleanOnDemand: true})
	encoder, err := zstd.NewWriter(nil)
	require.NoError(t, err)
	for name, bytesOfValue := range map[string]int{"beyond the bound": 33 << 20, "far beyond": 300 << 20} {
		raw := batch(encoder.EncodeAll(record(0, make([]byte, bytesOfValue)), nil), 1, 4)
		require.Less(t, len(raw), 1<<20)
		require.Equal(t, kerr.MessageTooLarge.Code, produce(t, b, raw).Topics[0].Partitions[0].ErrorCode, name)
	}
	raw := batch(encoder.EncodeAll(record(0, bytes.Repeat([]byte("v"), 100)), nil), 1, 4)
	require.Zero(t, produce(t, b, raw).Topics[0].Partitions[0].ErrorCode, "a right one")
	requireAlive(t, c, "after")
}

// Z5: a topic with 2³¹−1 partitions used up the memory.
func TestDoor_TooManyPartitions_Refused(t *testing.T) {
	b, c := start(t, t.TempDir(), embedded.Config{CleanOnDemand: true})
	request := kmsg.NewPtrCreateTopicsRequest()
	topic := kmsg.NewCreateTopicsRequestTopic()
	topic.Topic, topic.NumPartitions, topic.ReplicationFactor = "others", 1<<31-1, 1
	request.Topics = append(request.Topics, topic)
	request.SetVersion(4)
	more := kmsg.NewPtrCreatePartitionsRequest()
	grown := kmsg.NewCreatePartitionsRequestTopic()
	grown.Topic, grown.Count = "lethe.receipts.v1", 1<<31-1
	more.Topics = append(more.Topics, grown)
	more.SetVersion(1)
	conn, err := net.Dial("tcp", b.Config().Brokers[0])
	require.NoError(t, err)
	defer conn.Close()
	require.NoError(t, conn.SetDeadline(time.Now().Add(10*time.Second)))
	created, err := protocol.Exchange(conn, "test", request, 1<<20)
	require.NoError(t, err)
	require.Equal(t, kerr.InvalidPartitions.Code, created.(*kmsg.CreateTopicsResponse).Topics[0].ErrorCode)
	added, err := protocol.Exchange(conn, "test", more, 1<<20)
	require.NoError(t, err, "the connection stays open")
	require.Equal(t, kerr.InvalidPartitions.Code, added.(*kmsg.CreatePartitionsResponse).Topics[0].ErrorCode)
	requireAlive(t, c, "after")
}

// Z6: a thousand connections that say nothing used up the file descriptors, and lethe's own had none.
func TestDoor_HalfOpenConnections_GiveWay(t *testing.T) {
	b, c := start(t, t.TempDir(), embedded.Config{CleanOnDemand: true, Connections: 256})
	requireAlive(t, c, "before")
	var idle []net.Conn
	for range 600 {
		conn, err := net.Dial("tcp", b.Config().Brokers[0])
		require.NoError(t, err)
		idle = append(idle, conn)
	}
	requireAlive(t, c, "amid")
	fresh, err := bus.Open(b.Config())
	require.NoError(t, err)
	requireAlive(t, fresh, "new")
	require.NoError(t, fresh.Close())
	open := 0
	for _, conn := range idle {
		require.NoError(t, conn.SetReadDeadline(time.Now().Add(time.Millisecond)))
		if _, err := conn.Read(make([]byte, 1)); os.IsTimeout(err) {
			open++
		}
		require.NoError(t, conn.Close())
	}
	require.LessOrEqual(t, open, 256)
}

// Z2: a log into which an earlier version stored such a batch is refused in one line, which names file and byte.
func TestLogWithBatchThatCannotBeWalked_Refused(t *testing.T) {
	dir := t.TempDir()
	b, err := embedded.Start(dir, embedded.Config{CleanOnDemand: true}, slog.New(slog.DiscardHandler))
	require.NoError(t, err)
	c, err := bus.Open(b.Config())
	require.NoError(t, err)
	require.NoError(t, c.Admin().Apply(t.Context()))
	requireAlive(t, c, "before")
	require.NoError(t, c.Close())
	require.NoError(t, b.Close())
	files, err := filepath.Glob(filepath.Join(dir, "log", "partitions", "*receipts*", "*.dat"))
	require.NoError(t, err)
	require.Len(t, files, 1)
	raw, err := os.ReadFile(files[0])
	require.NoError(t, err)
	poison := batch(append(binary.AppendVarint(nil, 1<<31-1), make([]byte, 20)...), 1, 0)
	binary.BigEndian.PutUint64(poison, 1) // its offset
	require.NoError(t, os.WriteFile(files[0], append(raw, poison...), 0o600))
	_, err = embedded.Start(dir, embedded.Config{CleanOnDemand: true}, slog.New(slog.DiscardHandler))
	require.ErrorIs(t, err, embedded.ErrCorrupt)
	require.ErrorContains(t, err, "record 0 of 1 is malformed")
	require.ErrorContains(t, err, files[0])
	require.NotContains(t, err.Error(), "\n")
}
