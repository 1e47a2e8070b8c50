package graphs

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lethe"
	"lethe/ingest"
	"lethe/ingest/bus"
	"lethe/ingest/ingesttest"
	"lethe/pipeline/role"
)

// again sends the records of all dead letters of a reason again.
func (d *deployment) again(reason ingest.Reason) {
	d.Helper()
	var out []ingest.Outgoing
	require.NoError(d, d.topics.ReadAll(d.Context(), bus.DeadLetters, func(rec ingest.Record) error {
		letter, err := ingesttest.ParseDeadLetter(rec)
		if err == nil && letter.Refusal.Reason == reason {
			out = append(out, ingest.Outgoing{Key: letter.Record.Key, Value: letter.Record.Value})
		}
		return nil
	}))
	require.NotEmpty(d, out)
	d.send(bus.Transactions, out...)
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
		d.fill(1)
		d.settle(1)
		d.until(r, "timestep 1 settles", func(s *role.Status) bool { return s.Count(lethe.Settled) == 1 })
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
		d.fill(1)
		d.settle(1)
		d.until(r, "timestep 1 settles", func(s *role.Status) bool { return s.Count(lethe.Settled) == 1 })
		send := func(id lethe.TransactionID) {
			key, value, err := ingest.EncodeTransaction(lethe.Transaction{ID: id, Timestep: 2, Features: []float32{1, 2, 3}})
			require.NoError(t, err)
			d.send(bus.Transactions, ingest.Outgoing{Key: key, Value: value})
		}
		had := r.Status().Transactions()
		send(transactionID(1, 0))
		one(t, d, r, "timestep_conflict")
		send("another")
		d.until(r, "it is accepted", func(s *role.Status) bool { return s.Transactions() == had+1 })
	})
}
