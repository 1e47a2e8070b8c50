package embedded_test

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"io"
	"net"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"
	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kmsg"

	"lethe/ingest/embedded"
)

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

func dialed(t *testing.T, b *embedded.Broker) net.Conn {
	t.Helper()
	conn, err := net.Dial("tcp", b.Config().Brokers[0])
	require.NoError(t, err)
	t.Cleanup(func() { _ = conn.Close() })
	require.NoError(t, conn.SetDeadline(time.Now().Add(20*time.Second)))
	return conn
}

// framedRequest is a request as it is sent.
func framedRequest(m kmsg.Request) []byte {
	var tags []byte
	if m.IsFlexible() {
		tags = []byte{0} // of the header
	}
	return framed(m.Key(), m.GetVersion(), m.AppendTo(tags))
}

// asked sends a request and returns the response.
func asked(t *testing.T, conn net.Conn, m kmsg.Request) kmsg.Response {
	t.Helper()
	_, err := conn.Write(framedRequest(m))
	require.NoError(t, err)
	return answered(t, conn, m)
}

func answered(t *testing.T, conn net.Conn, m kmsg.Request) kmsg.Response {
	t.Helper()
	head := make([]byte, 8)
	_, err := io.ReadFull(conn, head)
	require.NoError(t, err)
	require.EqualValues(t, 7, binary.BigEndian.Uint32(head[4:]))
	body := make([]byte, binary.BigEndian.Uint32(head)-4)
	_, err = io.ReadFull(conn, body)
	require.NoError(t, err)
	response := m.ResponseKind()
	if m.IsFlexible() && m.Key() != int16(kmsg.ApiVersions) {
		body = body[1:]
	}
	require.NoError(t, response.ReadFrom(body))
	return response
}

// requireClosed waits until the broker closes a connection.
func requireClosed(t *testing.T, conn net.Conn) {
	t.Helper()
	rest, err := io.ReadAll(conn)
	var timeout net.Error
	if err != nil {
		require.ErrorAs(t, err, &timeout)
		require.False(t, timeout.Timeout(), "the connection stays open")
	}
	require.Empty(t, rest)
}

// requireServes asks the broker for something.
func requireServes(t *testing.T, b *embedded.Broker) {
	t.Helper()
	m := kmsg.NewPtrMetadataRequest()
	m.Version = 12
	require.NotEmpty(t, asked(t, dialed(t, b), m).(*kmsg.MetadataResponse).Brokers)
}

// claiming is a batch with a right checksum whose one record claims so many bytes.
func claiming(size int64) []byte {
	return batch(append(binary.AppendVarint(nil, size), 0, 0, 0, 1, 1, 0), 1, 0)
}

func produced(t *testing.T, conn net.Conn, topic string, batches ...[]byte) []kmsg.ProduceResponseTopicPartition {
	t.Helper()
	m := kmsg.NewPtrProduceRequest()
	m.Version, m.Acks, m.TimeoutMillis = 8, -1, 5000
	rt := kmsg.NewProduceRequestTopic()
	rt.Topic = topic
	for i, raw := range batches {
		p := kmsg.NewProduceRequestTopicPartition()
		p.Partition, p.Records = int32(i), raw
		rt.Partitions = append(rt.Partitions, p)
	}
	m.Topics = append(m.Topics, rt)
	return asked(t, conn, m).(*kmsg.ProduceResponse).Topics[0].Partitions
}

func zstdOf(t *testing.T, n int) []byte {
	t.Helper()
	var out bytes.Buffer
	w, err := zstd.NewWriter(&out, zstd.WithEncoderLevel(zstd.SpeedBestCompression))
	require.NoError(t, err)
	for chunk := make([]byte, 1<<20); n > 0; n -= len(chunk) {
		_, err := w.Write(chunk)
		require.NoError(t, err)
	}
	require.NoError(t, w.Close())
	return out.Bytes()
}
