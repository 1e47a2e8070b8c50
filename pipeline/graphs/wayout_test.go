package graphs

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lethe"
	"lethe/ingest"
	"lethe/ingest/bus"
	"lethe/ingest/ingesttest"
	"lethe/pipeline/role"
	"lethe/pipeline/role/roletest"
	"lethe/snapshot"
)

// again sends the records of all dead letters of a reason again.
func (d *deployment) again(reason ingest.Reason) {
	d.Helper()
	out := make(map[bus.Topic][]ingest.Outgoing)
	for _, rec := range roletest.Records(d, d.topics, bus.DeadLetters) {
		letter, err := ingesttest.ParseDeadLetter(rec)
		if err == nil && letter.Refusal.Reason == reason {
			topic := bus.Topic(strings.TrimPrefix(letter.Record.Topic, roletest.Prefix))
			out[topic] = append(out[topic], ingest.Outgoing{Key: letter.Record.Key, Value: letter.Record.Value})
		}
	}
	require.NotEmpty(d, out)
	for topic, records := range out {
		d.send(topic, records...)
	}
}

// The ways out of dead letters that a stream makes, as the documents have them, lead out.
func TestWaysOutOfDeadLetters(t *testing.T) {
	one := func(t *testing.T, d *deployment, r role.Role, reason string) {
		t.Helper()
		d.until(r, "it is rejected", func(*role.Status) bool { return len(d.letterReasons()) == 1 })
		for _, reasons := range d.letterReasons() {
			require.Equal(t, []string{reason}, reasons)
		}
	}
	t.Run("late: ingest.late is reopen, and replay", func(t *testing.T) {
		d, dir := deploy(t), t.TempDir()
		d.window, d.lateRecords = time.Millisecond, "dlq"
		r, stop := d.run(dir)
		d.settled(r, 1)
		d.late(1, 0)
		one(t, d, r, "late")
		had := r.Status().Transactions()
		stop()
		d.lateRecords = ""
		r, _ = d.run(dir)
		d.again(ingest.Late)
		d.until(r, "it is in the graph", func(s *role.Status) bool { return s.Transactions() == had+1 })
	})
	t.Run("too_many_open: the other partitions go on, and replay", func(t *testing.T) {
		d := deploy(t)
		d.window, d.mostOpen = time.Millisecond, 3
		const many = 10
		d.pinned(0, 1, many)
		d.pinned(1, 1, many)
		r, _ := d.run(t.TempDir())
		d.until(r, "all but the newest close", func(s *role.Status) bool { return s.Count(lethe.Closed) == many-1 })
		d.pinned(0, many+1, 2*many)
		d.until(r, "some are rejected", func(*role.Status) bool { return len(d.letterReasons()) == many-2 })
		d.pinned(1, many+1, many+2)
		d.until(r, "timesteps close", func(s *role.Status) bool { return s.Count(lethe.Open) < 3 })
		d.pinned(1, many+3, 2*many)
		d.until(r, "all but the newest close", func(s *role.Status) bool { return s.Count(lethe.Closed) == 2*many-1 })
		d.again(ingest.TooManyOpen)
		d.until(r, "they are accepted", func(s *role.Status) bool { return s.Transactions() == 4*many })
	})
	t.Run("timestep_conflict: another id", func(t *testing.T) {
		d := deploy(t)
		r, _ := d.run(t.TempDir())
		d.settled(r, 1)
		had := r.Status().Transactions()
		d.arrives(2, transactionID(1, 0), 1, 2, 3)
		one(t, d, r, "timestep_conflict")
		d.arrives(2, "another", 1, 2, 3)
		d.until(r, "it is accepted", func(s *role.Status) bool { return s.Transactions() == had+1 })
	})
	pay := func(d *deployment, source, target lethe.TransactionID, at lethe.Timestep) {
		d.put(bus.Transactions)(ingest.EncodePayment(lethe.Payment{Source: source, Target: target, Timestep: at}))
	}
	// payments counts those that the graph of a timestep holds of a transaction once the role has ended.
	payments := func(d *deployment, dir string, at lethe.Timestep, id lethe.TransactionID) (n int) {
		o := d.options(dir)
		s, err := snapshot.Open(snapshotsDir(o), snapshot.Options{
			Config: o.Snapshot, Secret: o.Secret, FS: o.FS, TransactionPartitions: 2, LabelPartitions: 1,
		})
		require.NoError(d, err)
		content, err := s.Load(at)
		require.NoError(d, err)
		for _, p := range content.Snapshot.Payments {
			if nodes := content.Snapshot.Nodes; nodes[p.Source].ID == id || nodes[p.Target].ID == id {
				n++
			}
		}
		require.NoError(d, s.Close())
		return n
	}
	t.Run("cross_timestep: a payment within the timestep", func(t *testing.T) {
		d, dir := deploy(t), t.TempDir()
		r, stop := d.run(dir)
		pay(d, transactionID(1, 1), transactionID(2, 1), 2)
		pay(d, transactionID(2, 1), transactionID(2, 4), 2)
		for at := lethe.Timestep(1); at <= 2; at++ {
			d.fill(at)
			d.settle(at)
		}
		d.until(r, "timestep 2 settles", func(s *role.Status) bool { return s.Count(lethe.Settled) == 2 })
		one(t, d, r, "cross_timestep")
		stop()
		require.Equal(t, 3, payments(d, dir, 2, transactionID(2, 1)), "those of the ring, and that within the timestep")
	})
	t.Run("too_many_waiting: the transactions, and replay", func(t *testing.T) {
		d, dir := deploy(t), t.TempDir()
		d.mostWaiting = 1
		r, stop := d.run(dir)
		pay(d, "a", "b", 1)
		pay(d, "a", "c", 1)
		one(t, d, r, "too_many_waiting")
		for _, id := range []lethe.TransactionID{"a", "b", "c"} {
			d.arrives(1, id, 1, 2, 3)
		}
		d.until(r, "the transactions are accepted", func(s *role.Status) bool { return s.Transactions() == 3 })
		d.again(ingest.TooManyWaiting)
		d.fill(1)
		d.until(r, "timestep 1 closes", func(s *role.Status) bool { return s.Count(lethe.Closed) == 1 })
		stop()
		require.Equal(t, 2, payments(d, dir, 1, "a"))
	})
	t.Run("wrong_partition: replay", func(t *testing.T) {
		d := deploy(t)
		r, _ := d.run(t.TempDir())
		key, value, err := ingest.EncodeTransaction(lethe.Transaction{ID: "away", Timestep: 1, Features: []float32{1, 2, 3}})
		require.NoError(t, err)
		away := ingest.Outgoing{Key: key, Value: value, Pinned: true, Partition: 1 - bus.PartitionOf(key, 2)}
		d.send(bus.Transactions, away)
		one(t, d, r, "wrong_partition")
		d.again(ingest.WrongPartition)
		d.until(r, "it is accepted", func(s *role.Status) bool { return s.Transactions() == 1 })
	})
}
