package service_test

import (
	"bytes"
	"net"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kgo"

	"lethe"
	"lethe/deletions"
	"lethe/ingest"
	"lethe/ingest/bus"
	"lethe/internal/testbroker"
	"lethe/service"
)

// bomb writes a record to a topic that nobody can read: its batch inflates beyond all bounds.
func (r *running) bomb(topic bus.Topic) {
	r.t.Helper()
	producer, err := kgo.NewClient(kgo.SeedBrokers(r.Brokers()...), kgo.ProducerBatchMaxBytes(100<<20),
		kgo.BrokerMaxWriteBytes(200<<20), kgo.ProducerBatchCompression(kgo.ZstdCompression()))
	require.NoError(r.t, err)
	defer producer.Close()
	rec := &kgo.Record{Topic: r.Client().Name(topic), Key: []byte("k"), Value: bytes.Repeat([]byte{0}, 40<<20)}
	require.NoError(r.t, producer.ProduceSync(r.t.Context(), rec).FirstErr())
}

// A batch that nobody can read, on whatever topic, ended the process that reads a whole topic: at every start, and as
// an erasure looks for what is to be withdrawn. It goes on, and the erasure is not verified: nobody can say that the
// batch does not hold what was erased.
func TestDamagedBatchesEndNothing(t *testing.T) {
	c := smallConfig(t, t.TempDir())
	c.HTTP.Address = net.JoinHostPort("127.0.0.1", strconv.Itoa(freePort(t)))
	c.Kafka.Brokers = testbroker.Trusting(t) // the embedded broker refuses such batches
	r := start(t, c)
	stream := smallStream(t, 3, 40, 3)
	first, second := *stream, *stream
	first.Steps, second.Steps = stream.Steps[:2], stream.Steps[2:]
	r.replay(&first)
	for _, topic := range bus.Topics() {
		r.bomb(topic)
	}
	id := first.Steps[0].Transactions[0].ID
	key, value, err := ingest.EncodeErasure(lethe.ErasureRequest{
		RequestID: "r", Targets: lethe.Transactions(id), Scope: lethe.ScopeStubs,
	}, time.Time{})
	require.NoError(t, err)
	require.NoError(t, r.Client().Write(t.Context(), bus.Erasures, []ingest.Outgoing{{Key: key, Value: value}}))
	failed := func(st *service.Status) bool { return st.Erasures[deletions.Failed] == 1 }
	r.await(failed)
	r.stop()
	r = start(t, c)
	r.replay(&second)
	r.await(failed)
	ready := page(t, c.HTTP.Address, "/readyz")
	require.Contains(t, ready, "topics: not ok")
	require.Contains(t, ready, "corrupt_batch")
}
