package embedded_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"
	"github.com/segmentio/kafka-go"
	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"lethe/ingest"
	"lethe/ingest/bus"
	"lethe/ingest/embedded"
)

// Z1: a request of an unknown kind, and one in an unknown version, ended the process.
func TestDoor_UnknownRequestKey_ClosesConnection(t *testing.T) {
	b, _ := start(t, t.TempDir(), embedded.Config{CleanOnDemand: true})
	for name, raw := range map[string][]byte{
		"unknown key":       framed(32767, 0, nil),
		"a key that is new": framed(71, 0, nil),
		"negative key":      framed(-2, 0, nil),
		"negative version":  framed(0, -3, nil),
		"an HTTP request":   []byte("POST / HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 1400000000\r\n\r\n"),
		"between brokers":   framedRequest(kmsg.NewPtrWriteTxnMarkersRequest()),
		"version of 32,767": {0, 0, 0, 10, 0, 3, 0x7f, 0xff, 0, 0, 0, 1, 0xff, 0xff},
		"forged tag count": append([]byte{0, 0, 0, 15, 0, 3, 0, 12, 0, 0, 0, 1, 0xff, 0xff},
			0xff, 0xff, 0xff, 0xff, 0x0f),
		"body of 2^31-1 topics": {0, 0, 0, 14, 0, 3, 0, 1, 0, 0, 0, 1, 0xff, 0xff, 0x7f, 0xff, 0xff, 0xff},
		"bytes behind the body": {0, 0, 0, 11, 0, 18, 0, 0, 0, 0, 0, 1, 0xff, 0xff, 1},
	} {
		t.Run(name, func(t *testing.T) {
			conn := dialed(t, b)
			_, err := conn.Write(raw)
			require.NoError(t, err)
			requireClosed(t, conn)
			requireServes(t, b)
		})
	}
}

func TestDoor_NewerApiVersions_IsAnswered(t *testing.T) {
	b, _ := start(t, t.TempDir(), embedded.Config{CleanOnDemand: true})
	m := kmsg.NewPtrApiVersionsRequest()
	m.Version, m.ClientSoftwareName, m.ClientSoftwareVersion = 4, "client", "1"
	conn := dialed(t, b)
	_, err := conn.Write(framedRequest(m))
	require.NoError(t, err)
	m.Version = 0
	require.Equal(t, kerr.UnsupportedVersion.Code, answered(t, conn, m).(*kmsg.ApiVersionsResponse).ErrorCode)
	require.Zero(t, asked(t, conn, m).(*kmsg.ApiVersionsResponse).ErrorCode)
}

// Z3: a length prefix of four bytes allocated up to 4 GiB.
func TestDoor_LengthPrefix_AllocatesOnlyWhatArrives(t *testing.T) {
	b, _ := start(t, t.TempDir(), embedded.Config{CleanOnDemand: true})
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for _, size := range []uint32{0, 9, 1 << 31, 0xfffffff0, 2_000_000_000} {
		conn := dialed(t, b)
		_, err := conn.Write(append(binary.BigEndian.AppendUint32(nil, size), 0, 0, 0, 3))
		require.NoError(t, err)
		requireClosed(t, conn)
	}
	for range 20 {
		_, err := dialed(t, b).Write([]byte{0x06, 0x00, 0, 0, 0, 0, 0, 3, 0, 0, 0, 1, 0xff, 0xff}) // 96 MiB of records
		require.NoError(t, err)
	}
	time.Sleep(100 * time.Millisecond)
	runtime.ReadMemStats(&after)
	require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(16<<20))
	requireServes(t, b)
}

// Z2: a record that claims more bytes than its batch has was stored, and ended the next compaction and each later
// start.
func TestDoor_RecordLongerThanItsBatch_IsRefused(t *testing.T) {
	b, c := start(t, t.TempDir(), embedded.Config{CleanOnDemand: true})
	topic, conn := c.Name(bus.Transactions), dialed(t, b)
	good := batch([]byte{16, 0, 0, 0, 2, 'k', 2, 'v', 0}, 1, 0)
	answers := produced(t, conn, topic, claiming(1<<31-1), good, claiming(-7), batch(nil, -4, 0))
	codes := []int16{kerr.InvalidRecord.Code, 0, kerr.InvalidRecord.Code, kerr.InvalidRecord.Code}
	for i, p := range answers {
		require.Equal(t, codes[p.Partition], p.ErrorCode, i)
		if p.ErrorCode != 0 {
			require.Contains(t, *p.ErrorMessage, "cannot be stored")
		}
	}
	damaged := claiming(1 << 30)
	damaged[18] ^= 1
	require.Equal(t, kerr.CorruptMessage.Code, produced(t, conn, topic, damaged)[0].ErrorCode, "it may be sent again")
	require.NoError(t, b.Compact())
	require.NoError(t, c.Write(t.Context(), bus.Transactions, []ingest.Outgoing{put("a", "b")}))
	require.Len(t, readAll(t, c, bus.Transactions), 2)
}

// Z4 and B7: a small batch that decompresses to gigabytes did so at each compaction; one of more than readers accept
// was acknowledged and then dropped.
func TestDoor_BatchThatInflatesBeyondTheBound_IsTooLarge(t *testing.T) {
	b, c := start(t, t.TempDir(), embedded.Config{CleanOnDemand: true})
	encoder, err := zstd.NewWriter(nil)
	require.NoError(t, err)
	compressed := func(value []byte) []byte { return batch(encoder.EncodeAll(record(0, value), nil), 1, 4) }
	for _, bomb := range [][]byte{batch(zstdOf(t, 512<<20), 1, 4), compressed(make([]byte, 33<<20))} {
		require.Less(t, len(bomb), 1<<20)
		got := produced(t, dialed(t, b), c.Name(bus.Labels), bomb)[0]
		require.Equal(t, kerr.MessageTooLarge.Code, got.ErrorCode)
		require.Contains(t, *got.ErrorMessage, "it inflates to more")
	}
	require.Zero(t, produced(t, dialed(t, b), c.Name(bus.Labels), compressed([]byte("v")))[0].ErrorCode, "a right one")
	requireServes(t, b)
}

// Z5: a topic with 2³¹−1 partitions used up the memory.
func TestDoor_TooManyPartitions_IsRefused(t *testing.T) {
	b, c := start(t, t.TempDir(), embedded.Config{CleanOnDemand: true})
	conn := dialed(t, b)
	create := kmsg.NewPtrCreateTopicsRequest()
	create.Version = 4
	for name, partitions := range map[string]int32{"many": 1<<31 - 1, "few": 3, "with a blank": 1} {
		topic := kmsg.NewCreateTopicsRequestTopic()
		topic.Topic, topic.NumPartitions, topic.ReplicationFactor = name, partitions, 1
		create.Topics = append(create.Topics, topic)
	}
	codes := map[string]int16{}
	for _, topic := range asked(t, conn, create).(*kmsg.CreateTopicsResponse).Topics {
		codes[topic.Topic] = topic.ErrorCode
	}
	require.Equal(t, map[string]int16{
		"many": kerr.InvalidPartitions.Code, "few": 0, "with a blank": kerr.InvalidTopicException.Code,
	}, codes)
	grow := kmsg.NewPtrCreatePartitionsRequest()
	grow.Version = 1
	for name, count := range map[string]int32{c.Name(bus.Labels): 1<<31 - 1, "few": 4} {
		topic := kmsg.NewCreatePartitionsRequestTopic()
		topic.Topic, topic.Count = name, count
		grow.Topics = append(grow.Topics, topic)
	}
	codes = map[string]int16{}
	for _, topic := range asked(t, conn, grow).(*kmsg.CreatePartitionsResponse).Topics {
		codes[topic.Topic] = topic.ErrorCode
	}
	require.Equal(t, map[string]int16{c.Name(bus.Labels): kerr.InvalidPartitions.Code, "few": 0}, codes)
	requireServes(t, b)
}

func TestDoor_OwnTopics_AreNotDeleted(t *testing.T) {
	b, c := start(t, t.TempDir(), embedded.Config{CleanOnDemand: true})
	transport := &kafka.Transport{}
	defer transport.CloseIdleConnections()
	client := &kafka.Client{Addr: kafka.TCP(b.Config().Brokers...), Transport: transport, Timeout: 10 * time.Second}
	_, err := client.CreateTopics(t.Context(), &kafka.CreateTopicsRequest{
		Topics: []kafka.TopicConfig{{Topic: "mine", NumPartitions: 1, ReplicationFactor: 1}},
	})
	require.NoError(t, err)
	own := c.Name(bus.Control)
	response, err := client.DeleteTopics(t.Context(), &kafka.DeleteTopicsRequest{Topics: []string{own, "mine", "unknown"}})
	require.NoError(t, err)
	require.ErrorIs(t, response.Errors[own], kafka.Error(kerr.TopicDeletionDisabled.Code))
	require.NoError(t, response.Errors["mine"])
	require.ErrorIs(t, response.Errors["unknown"], kafka.UnknownTopicOrPartition)
	there, err := c.Admin().Partitions(t.Context())
	require.NoError(t, err)
	require.Contains(t, there, bus.Control)
}

// Z6: a thousand connections that say nothing used up the file descriptors, and lethe's own had none.
func TestDoor_HalfOpenConnections_LeaveRoomForClients(t *testing.T) {
	b, c := start(t, t.TempDir(), embedded.Config{CleanOnDemand: true, Connections: 20})
	open := func() int {
		entries, err := os.ReadDir("/proc/self/fd")
		if err != nil {
			t.Skip("no /proc")
		}
		return len(entries)
	}
	require.NoError(t, c.Write(t.Context(), bus.Labels, []ingest.Outgoing{put("a", "b")}))
	before, silent := open(), 200
	for range silent {
		dialed(t, b)
	}
	require.Eventually(t, func() bool { return open() <= before+silent+20 }, 10*time.Second, 10*time.Millisecond,
		"the broker holds more than its bound")
	require.NoError(t, c.Write(t.Context(), bus.Labels, []ingest.Outgoing{put("a", "c")}))
	fresh, err := bus.Open(b.Config())
	require.NoError(t, err)
	require.NoError(t, fresh.Write(t.Context(), bus.Labels, []ingest.Outgoing{put("a", "d")}))
	require.NoError(t, fresh.Close())
	require.NoError(t, b.Compact())
	requireServes(t, b)
}

// A log written before the door existed may hold a batch that ends the process. It is refused in one line.
func TestDoor_PoisonedLog_IsRefusedAtTheStart(t *testing.T) {
	dir := t.TempDir()
	b, err := embedded.Start(dir, embedded.Config{CleanOnDemand: true}, slog.New(slog.DiscardHandler))
	require.NoError(t, err)
	c, err := bus.Open(b.Config())
	require.NoError(t, err)
	require.NoError(t, c.Admin().Apply(t.Context()))
	require.NoError(t, c.Write(t.Context(), bus.Receipts, []ingest.Outgoing{put("k", "v")}))
	require.NoError(t, c.Close())
	require.NoError(t, b.Close())
	files, err := filepath.Glob(filepath.Join(dir, "log", "partitions", "*receipts*", "*.dat"))
	require.NoError(t, err)
	whole, err := os.ReadFile(files[0])
	require.NoError(t, err)
	// Readers skip a batch of 40 MiB and name it: an older version stored it, and the log still opens.
	encoder, err := zstd.NewWriter(nil)
	require.NoError(t, err)
	large := batch(encoder.EncodeAll(record(0, make([]byte, 40<<20)), nil), 1, 4)
	binary.BigEndian.PutUint64(large, 1)
	require.NoError(t, os.WriteFile(files[0], append(bytes.Clone(whole), large...), 0o600))
	b, err = embedded.Start(dir, embedded.Config{CleanOnDemand: true}, slog.New(slog.DiscardHandler))
	require.NoError(t, err)
	require.NoError(t, b.Close())
	for name, poison := range map[string][]byte{
		"length": claiming(1<<31 - 1), "bomb": batch(zstdOf(t, 512<<20), 1, 4), "count": batch(nil, -4, 0),
	} {
		for _, behind := range [][]byte{nil, whole} { // at the end of the log too, where half a batch is none
			binary.BigEndian.PutUint64(poison, 1)
			require.NoError(t, os.WriteFile(files[0], bytes.Join([][]byte{whole, poison, behind}, nil), 0o600))
			_, err = embedded.Start(dir, embedded.Config{CleanOnDemand: true}, slog.New(slog.DiscardHandler))
			require.ErrorIs(t, err, embedded.ErrCorrupt, name)
			require.ErrorContains(t, err, fmt.Sprintf("%s, at byte %d of", files[0], len(whole)), name)
			require.Equal(t, name == "length", strings.Contains(err.Error(), "record 0 of 1 is malformed"), err)
			require.NotContains(t, err.Error(), "\n")
		}
	}
}
