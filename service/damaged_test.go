package service_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kgo"

	"lethe"
	"lethe/deletions"
	"lethe/deletions/receipt"
	"lethe/ingest"
	"lethe/ingest/bus"
	"lethe/internal/testbroker"
	"lethe/service"
	"lethe/service/servicetest"
)

// bomb writes a record to a partition of a topic that nobody can read: its batch inflates to a little more than
// readers accept. It returns the offset.
func bomb(r *running, topic bus.Topic, partition int32) int64 {
	r.T.Helper()
	return produce(r, kgo.Record{
		Topic: r.Client().Name(topic), Key: []byte("k"), Value: make([]byte, 32<<20), Partition: partition,
	})
}

// produce writes a record of any size to its partition, compressed, and returns the offset.
func produce(r *running, rec kgo.Record) int64 {
	r.T.Helper()
	producer, err := kgo.NewClient(kgo.SeedBrokers(r.Brokers()...), kgo.ProducerBatchMaxBytes(100<<20),
		kgo.BrokerMaxWriteBytes(200<<20), kgo.ProducerBatchCompression(kgo.ZstdCompression()),
		kgo.RecordPartitioner(kgo.ManualPartitioner()))
	require.NoError(r.T, err)
	defer producer.Close()
	require.NoError(r.T, producer.ProduceSync(r.T.Context(), &rec).FirstErr())
	return rec.Offset
}

// A batch that nobody can read holds up the erasures whose targets could be in its partition, and says so. All others
// are verified, and their receipts name it.
func TestAnUnreadableBatchHoldsUpItsOwnPartition(t *testing.T) {
	t.Parallel()
	c := servicetest.SmallConfig(t, t.TempDir())
	c.Embedded.StoreAny = true
	r := start(t, c)
	stream := servicetest.SmallStream(t, 3, 40, 3)
	r.Replay(stream)
	const damaged = 1
	offset := bomb(r, bus.Transactions, damaged)
	ids := make(map[int]lethe.TransactionID)
	for _, tx := range stream.Steps[1].Transactions {
		ids[bus.PartitionOf([]byte(tx.ID), 2)] = tx.ID
	}
	submit(r, request(t, "inside", ids[damaged]), request(t, "outside", ids[1-damaged]))
	require.Equal(t, deletions.Verified, r.Outcome("outside"))
	r.Await(func(s *service.Status) bool { return s.Erasures[deletions.Failed] == 1 })
	require.Equal(t, deletions.FailedUnreadable, r.StatusOf("inside").Failure)
	read := func(name string) receipt.Receipt { return servicetest.Receipt(t, c, name) }
	at := slices.IndexFunc(read("outside").Searched, func(p deletions.PlaceSearch) bool {
		return p.Place == string(bus.Transactions)
	})
	batches := read("outside").Searched[at].Unreadable
	require.Len(t, batches, 1)
	require.Equal(t, []int64{damaged, offset, offset},
		[]int64{int64(batches[0].Partition), batches[0].First, batches[0].Last})
	said := strings.Join(read("outside").MayRemain, "\n")
	require.Contains(t, said, fmt.Sprintf("Offsets %d to %[1]d of transactions.v1 partition %d", offset, damaged))
	require.Contains(t, said, batches[0].SHA256.String())

	topic := r.Client().Name(bus.Transactions)
	require.NoError(t, testbroker.DeleteRecords(t.Context(), r.Brokers(), topic, damaged, offset+1))
	require.Equal(t, deletions.Verified, r.Outcome("inside"))
	require.NotContains(t, strings.Join(read("inside").MayRemain, "\n"), "Offsets")
}

// A batch that nobody can read, on whatever topic, ended the process that reads a whole topic: at every start, and as
// an erasure looks for what is to be withdrawn. It goes on, and the erasure is not verified: nobody can say that the
// batch does not hold what was erased.
func TestDamagedBatchesEndNothing(t *testing.T) {
	if testing.Short() {
		t.Skip("the broker inflates a batch of each topic at every compaction")
	}
	c := servicetest.SmallConfig(t, t.TempDir())
	c.Embedded.StoreAny = true
	r := start(t, c)
	stream := servicetest.SmallStream(t, 3, 40, 3)
	first, second := servicetest.Part(t, stream, 1, 2), servicetest.Part(t, stream, 3, 3)
	r.Replay(first)
	for _, topic := range bus.Topics() {
		bomb(r, topic, 0)
	}
	id := first.Steps[0].Transactions[0].ID
	r.Submit(lethe.ErasureRequest{RequestID: "r", Targets: lethe.Transactions(id)})
	failed := func(st *service.Status) bool { return st.Erasures[deletions.Failed] == 1 }
	r.Await(failed)
	r.Stop()
	r = start(t, c)
	r.Replay(second)
	r.Await(failed)
	ready := r.Page("/readyz")
	require.Contains(t, ready, "topics: not ok")
	require.Contains(t, ready, "corrupt_batch")
}

// The way out of a damaged batch is to send again what was in it (docs/operations.md, Records that were missed).
func TestADamagedBatch_SentAgain_IsAccepted(t *testing.T) {
	t.Parallel()
	c := servicetest.SmallConfig(t, t.TempDir())
	c.Embedded.StoreAny = true
	r := start(t, c)
	r.Replay(servicetest.SmallStream(t, 2, 40, 3))
	key, value, err := ingest.EncodeTransaction(lethe.Transaction{ID: "again", Timestep: 3, Features: make([]float32, 12)})
	require.NoError(t, err)
	bomb(r, bus.Transactions, int32(bus.PartitionOf(key, 2)))
	had := r.Quiet().Transactions
	send(r, bus.Transactions)(key, value, nil)
	r.Await(func(s *service.Status) bool { return s.Transactions == had+1 })
}
