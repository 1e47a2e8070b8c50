package wire_test

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"lethe"
	"lethe/ingest"
	"lethe/ingest/bus"
	"lethe/pipeline/wire"
)

const partitions = 2

// topic is a log in memory, by partition, that can be compacted. After failAfter
// records of one write, if that is not negative, the writer is killed.
type topic struct {
	logs      [partitions][]ingest.Record
	next      [partitions]int64
	failAfter int
}

var errKilled = errors.New("killed")

func (l *topic) Write(_ context.Context, _ bus.Topic, records []ingest.Outgoing) error {
	for i, out := range records {
		if i == l.failAfter {
			return errKilled
		}
		p := out.Partition
		l.logs[p] = append(l.logs[p], ingest.Record{
			Topic: "t", Partition: p, Offset: l.next[p], Key: out.Key, Value: out.Value, Headers: out.Headers,
		})
		l.next[p]++
	}
	return nil
}

// compact keeps the newest record of each key before a position, as a broker
// does; tombstones there may go.
func (l *topic) compact(p, cut int, keepTombstones bool) {
	newest := make(map[string]int64)
	for _, rec := range l.logs[p][:cut] {
		newest[string(rec.Key)] = rec.Offset
	}
	var kept []ingest.Record
	for i, rec := range l.logs[p] {
		if i >= cut || newest[string(rec.Key)] == rec.Offset && (keepTombstones || !rec.Tombstone()) {
			kept = append(kept, rec)
		}
	}
	l.logs[p] = kept
}

// batch returns up to n records from a position on.
func (l *topic) batch(p int, from int64, n int) bus.Batch {
	b := bus.Batch{Source: bus.TopicPartition{Topic: bus.Slices, Partition: p}}
	for _, rec := range l.logs[p] {
		if rec.Offset >= from && len(b.Records) < n {
			b.Records = append(b.Records, rec)
		}
	}
	return b
}

// payload is as long as several chunks, and different for each revision.
func payload(k wire.Key, revision lethe.Revision, size int) []byte {
	return bytes.Repeat([]byte{byte(k.Shard), byte(k.Timestep), byte(revision), 7}, max(size/4, 1))
}

// Whatever is written, torn, compacted and read in pieces by readers that are
// killed and resume where they noted: the newest revision of everything that
// was published arrives, and nothing else does.
func TestReaderSeesTheNewestOfEverything(t *testing.T) {
	sizes := []int{4, bus.DefaultChunkBytes, bus.DefaultChunkBytes + 4, 3 * bus.DefaultChunkBytes}
	rapid.Check(t, func(rt *rapid.T) {
		log := &topic{failAfter: -1}
		want := make(map[wire.Key]wire.Message)
		for range rapid.IntRange(1, 6).Draw(rt, "messages") {
			k := wire.Key{Kind: wire.KindSlice, Shard: lethe.ShardID(rapid.IntRange(0, 2).Draw(rt, "shard")), Timestep: 1}
			m := wire.Message{Key: k, Revision: want[k].Revision + 1, Previous: lethe.NoTimestep}
			m.Payload = payload(k, m.Revision, rapid.SampledFrom(sizes).Draw(rt, "size"))
			// Killed in the middle of a message, the writer writes it again.
			for log.failAfter = rapid.IntRange(-1, 4).Draw(rt, "killed at"); log.failAfter >= 0; log.failAfter = -1 {
				_ = wire.Publish(rt.Context(), log, partitions, m)
			}
			require.NoError(rt, wire.Publish(rt.Context(), log, partitions, m))
			want[k] = m
		}
		for p := range partitions {
			log.compact(p, rapid.IntRange(0, len(log.logs[p])).Draw(rt, "cut"), rapid.Bool().Draw(rt, "tombstones"))
		}
		got := make(map[wire.Key]wire.Message)
		for p := range partitions {
			readAll(rt, log, p, got)
		}
		require.Equal(rt, want, got)
	})
}

// readAll reads a partition in pieces, with readers that are killed now and
// then: the next one begins where the last message said.
func readAll(rt *rapid.T, log *topic, p int, got map[wire.Key]wire.Message) {
	reader, from, noted, kills := wire.NewReader(), int64(0), int64(0), 3
	for {
		batch := log.batch(p, from, rapid.IntRange(1, 5).Draw(rt, "batch"))
		if len(batch.Records) == 0 {
			return
		}
		received, err := reader.Read(batch)
		require.NoError(rt, err)
		for _, m := range received {
			if m.Revision >= got[m.Key].Revision {
				got[m.Key] = m.Message
			}
			require.GreaterOrEqual(rt, m.Next, noted, "the position goes back")
			noted = m.Next
		}
		from = batch.Records[len(batch.Records)-1].Offset + 1
		if kills > 0 && rapid.Bool().Draw(rt, "killed") {
			reader, from, kills = wire.NewReader(), noted, kills-1
		}
	}
}

// Chunks of different shards interleave in a partition; a position is safe only
// if nothing that began before it is open.
func TestNextWaitsForOpenMessages(t *testing.T) {
	log := &topic{failAfter: -1}
	long := wire.Message{Key: wire.Key{Kind: wire.KindSlice, Shard: 0, Timestep: 1}, Revision: 1}
	long.Payload = payload(long.Key, 1, 2*bus.DefaultChunkBytes)
	short := wire.Message{Key: wire.Key{Kind: wire.KindSlice, Shard: 2, Timestep: 1}, Revision: 1, Payload: []byte{1}}
	require.NoError(t, wire.Publish(t.Context(), log, partitions, short))
	require.NoError(t, wire.Publish(t.Context(), log, partitions, long))
	require.NoError(t, wire.Publish(t.Context(), log, partitions, short))
	// short, long/0, short, long/1
	l := log.logs[0]
	l[2], l[3] = l[3], l[2]
	l[2].Offset, l[3].Offset = 2, 3
	received, err := wire.NewReader().Read(log.batch(0, 0, 9))
	require.NoError(t, err)
	var next []int64
	for _, m := range received {
		next = append(next, m.Next)
	}
	require.Equal(t, []int64{1, 1, 4}, next)
}

// What is torn where reading begins never completes. The position must not go
// back to the start of the topic because of it.
func TestATornMessageDoesNotMoveThePositionBack(t *testing.T) {
	log := &topic{failAfter: -1}
	for step := range lethe.Timestep(3) {
		k := wire.Key{Kind: wire.KindModel, Timestep: step}
		m := wire.Message{Key: k, Revision: 1, Payload: payload(k, 1, 2*bus.DefaultChunkBytes)}
		require.NoError(t, wire.Publish(t.Context(), log, partitions, m))
	}
	received, err := wire.NewReader().Read(log.batch(0, 1, 9))
	require.NoError(t, err)
	require.Len(t, received, 2)
	require.Equal(t, []int64{1, 1}, []int64{received[0].Next, received[1].Next})
}

// A replaced payload that got shorter leaves no chunk of the longer one.
func TestPublishRetractsWhatALongerRevisionLeft(t *testing.T) {
	log := &topic{failAfter: -1}
	k := wire.Key{Kind: wire.KindSlice, Shard: 1, Timestep: 1}
	for revision, size := range []int{3 * bus.DefaultChunkBytes, bus.DefaultChunkBytes} {
		next := lethe.Revision(revision + 1)
		m := wire.Message{Key: k, Revision: next, Payload: payload(k, next, size)}
		require.NoError(t, wire.Publish(t.Context(), log, partitions, m))
	}
	log.compact(1, len(log.logs[1]), false)
	require.Len(t, log.logs[1], 1)
	require.Equal(t, "slice/1/1/0", string(log.logs[1][0].Key))
}

func TestPublishWritesToTheTopicOfTheKind(t *testing.T) {
	for kind, want := range map[wire.Kind]bus.Topic{
		wire.KindSlice: bus.Slices, wire.KindModel: bus.Models,
		wire.KindSnapshot: bus.Snapshots, wire.KindManifest: bus.Snapshots,
	} {
		var got bus.Topic
		p := publisherFunc(func(topic bus.Topic, _ []ingest.Outgoing) { got = topic })
		require.NoError(t, wire.Publish(t.Context(), p, 1, wire.Message{Key: wire.Key{Kind: kind}, Revision: 1}))
		require.Equal(t, want, got)
	}
}

type publisherFunc func(bus.Topic, []ingest.Outgoing)

func (f publisherFunc) Write(_ context.Context, topic bus.Topic, records []ingest.Outgoing) error {
	f(topic, records)
	return nil
}

// Only lethe writes these topics: anything else is an error that names where.
func TestReaderRefusesForeignRecords(t *testing.T) {
	chunk := func(key string, headers ...ingest.Header) ingest.Record {
		out := bus.Chunks(key, []byte("payload"), headers, bus.DefaultChunkBytes)[0]
		return ingest.Record{Topic: "t", Partition: 1, Offset: 5, Key: out.Key, Value: out.Value, Headers: out.Headers}
	}
	revision := ingest.Header{Key: "lethe.revision", Value: []byte("1")}
	bad := ingest.Header{Key: "lethe.previous", Value: []byte("yesterday")}
	for name, rec := range map[string]ingest.Record{
		"no chunk":       {Topic: "t", Partition: 1, Offset: 5, Key: []byte("slice/1/1/0"), Value: []byte("x")},
		"no revision":    chunk("slice/1/1"),
		"bad previous":   chunk("snapshot/1", revision, bad),
		"unknown kind":   chunk("tensor/1", revision),
		"shard too high": chunk("slice/4294967296/1", revision),
	} {
		_, err := wire.NewReader().Read(bus.Batch{Records: []ingest.Record{rec}})
		require.ErrorContains(t, err, "t/1@5", name)
	}
	marker := ingest.Record{Key: []byte("!roll/0"), Value: []byte("x")}
	received, err := wire.NewReader().Read(bus.Batch{Records: []ingest.Record{marker}})
	require.NoError(t, err)
	require.Empty(t, received)
}

func TestMessageKeepsItsHeaders(t *testing.T) {
	log := &topic{failAfter: -1}
	key := wire.Key{Kind: wire.KindSnapshot, Timestep: 9}
	sent := wire.Message{Key: key, Revision: 3, Previous: 7, Last: true, Payload: []byte("graph")}
	require.NoError(t, wire.Publish(t.Context(), log, 1, sent))
	received, err := wire.NewReader().Read(log.batch(0, 0, 1))
	require.NoError(t, err)
	require.Equal(t, []wire.Received{{Message: sent, Partition: 0, Next: 1}}, slices.Clip(received))
}

// A message that was deleted is told as such, and one whose chunks do not belong
// together is passed over: compaction tore it and a newer one follows.
func TestReaderTellsDeletedAndPassesOverTornMessages(t *testing.T) {
	log := &topic{failAfter: -1}
	m := wire.Message{Key: wire.Key{Kind: wire.KindModel, Timestep: 4}, Revision: 1, Payload: []byte("model")}
	torn := bus.Chunks(m.Key.String(), []byte("other"), nil, bus.DefaultChunkBytes)
	torn[0].Value = []byte("rehto")
	require.NoError(t, log.Write(t.Context(), bus.Models, torn))
	deleted := wire.Message{Key: m.Key, Deleted: true}
	require.NoError(t, wire.Publish(t.Context(), log, 1, deleted))
	require.NoError(t, wire.Publish(t.Context(), log, 1, m))
	received, err := wire.NewReader().Read(log.batch(0, 0, 99))
	require.NoError(t, err)
	n := int64(len(log.logs[0]))
	require.Equal(t, []wire.Received{
		{Message: deleted, Offset: n - 2, Next: n - 1}, {Message: m, Offset: n - 1, Next: n},
	}, received)
}

// Of a message that is deleted no chunk stays, however many it had.
func TestDeletedMessagesLeaveNothing(t *testing.T) {
	log := &topic{failAfter: -1}
	m := wire.Message{Key: wire.Key{Kind: wire.KindSlice, Shard: 1, Timestep: 4}, Revision: 3}
	m.Payload = payload(m.Key, m.Revision, 16*bus.DefaultChunkBytes)
	require.NoError(t, wire.Publish(t.Context(), log, partitions, m))
	require.NoError(t, wire.Publish(t.Context(), log, partitions, wire.Message{Key: m.Key, Deleted: true}))
	log.compact(1, len(log.logs[1]), false)
	require.Empty(t, log.logs[1])
}
