package graphs

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"lethe"
	"lethe/ingest"
	"lethe/ingest/bus"
	"lethe/ingest/ingesttest"
	"lethe/pipeline/role"
)

// pinned publishes a transaction of each timestep to a partition.
func (d *deployment) pinned(partition int, from, through lethe.Timestep) {
	d.Helper()
	var out []ingest.Outgoing
	for at := from; at <= through; at++ {
		id := d.homed(partition, fmt.Sprint("transaction-", at))
		key, value, err := ingest.EncodeTransaction(lethe.Transaction{ID: id, Timestep: at, Features: []float32{1, 2, 3}})
		require.NoError(d, err)
		out = append(out, ingest.Outgoing{Key: key, Value: value, Pinned: true, Partition: partition})
	}
	d.send(bus.Transactions, out...)
}

// homed returns an id whose records belong in a partition of the transactions.
func (d *deployment) homed(partition int, prefix string) lethe.TransactionID {
	d.Helper()
	n, err := d.topics.Partitions(d.Context(), bus.Transactions)
	require.NoError(d, err)
	for i := 0; ; i++ {
		if id := fmt.Sprint(prefix, "-", i); bus.PartitionOf([]byte(id), n) == partition {
			return lethe.TransactionID(id)
		}
	}
}

// reasons counts the dead letters by reason.
func (d *deployment) reasons() map[ingest.Reason]int {
	d.Helper()
	out := make(map[ingest.Reason]int)
	require.NoError(d, d.topics.ReadAll(d.Context(), bus.DeadLetters, func(rec ingest.Record) error {
		letter, err := ingesttest.ParseDeadLetter(rec)
		require.NoError(d, err)
		out[letter.Refusal.Reason]++
		return nil
	}))
	return out
}

// However many timesteps come at once, as after an outage, all are taken: a partition that
// is not read yet may hold what closes them. Where all is read, one who sends records of
// ever later timesteps is stopped at the bound (S6).
func TestTimestepsThatNobodyClosesAreBounded(t *testing.T) {
	d := deploy(t)
	d.mostOpen = 3
	const many = 20
	d.pinned(0, 1, many)
	d.pinned(1, 1, many)
	r, _ := d.run(t.TempDir())
	closed := func(s *role.Status) bool { return s.Count(lethe.Closed) == many-1 && s.Count(lethe.Open) == 1 }
	d.until(r, "all but the newest close", closed)
	require.Empty(t, d.reasons())

	d.pinned(0, many+1, 2*many)
	d.until(r, "what comes is read", func(s *role.Status) bool {
		return s.Consumed[bus.TopicPartition{Topic: bus.Transactions}] == 2*many
	})
	require.Equal(t, map[ingest.Reason]int{ingest.TooManyOpen: many - 2}, d.reasons())
	require.Equal(t, 3, r.Status().Count(lethe.Open))
}
