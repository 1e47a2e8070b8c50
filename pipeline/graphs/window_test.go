package graphs

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lethe"
	"lethe/ingest"
	"lethe/ingest/bus"
	"lethe/pipeline/role"
	"lethe/pipeline/wire"
)

// late sends a transaction of a timestep that has settled.
func (d *deployment) late(at lethe.Timestep, number int) {
	key, value, err := ingest.EncodeTransaction(lethe.Transaction{
		ID: lethe.TransactionID(fmt.Sprintf("late-%d", number)), Timestep: at, Features: []float32{9, 9, 9},
	})
	require.NoError(d, err)
	d.send(bus.Transactions, ingest.Outgoing{Key: key, Value: value})
}

// revisions counts the messages with slices of a timestep by their revision: as many
// replays of a shard as it has revisions beyond the first one.
func (d *deployment) revisions(at lethe.Timestep) map[lethe.Revision]int {
	out := make(map[lethe.Revision]int)
	reader := wire.NewReader()
	require.NoError(d, d.topics.ReadAll(d.Context(), bus.Slices, func(rec ingest.Record) error {
		source := bus.TopicPartition{Topic: bus.Slices, Partition: rec.Partition}
		received, err := reader.Read(bus.Batch{Source: source, Records: []ingest.Record{rec}})
		for _, m := range received {
			if m.Key.Timestep == at {
				out[m.Revision]++
			}
		}
		return err
	}))
	return out
}

// A burst of late records is one replay: they wait for each other, but for no longer than
// the window, though nothing else happens.
func TestABurstOfLateRecordsIsOneReplay(t *testing.T) {
	t.Parallel()
	d := deploy(t)
	d.window = 1500 * time.Millisecond
	r, _ := d.run(t.TempDir())
	d.fill(1)
	d.settle(1)
	d.until(r, "timestep 1 settles", func(s *role.Status) bool { return s.Count(lethe.Settled) == 1 })
	require.Equal(t, map[lethe.Revision]int{1: shards}, d.revisions(1))

	const burst = 20
	began := time.Now()
	for i := range burst {
		d.late(1, i)
		time.Sleep(10 * time.Millisecond)
	}
	d.until(r, "they are part of it", func(s *role.Status) bool { return s.Steps[1].Nodes == 7+burst })
	require.GreaterOrEqual(t, time.Since(began), d.window)
	require.Equal(t, map[lethe.Revision]int{1: shards, 2: shards}, d.revisions(1))

	// The next one waits out a window of its own.
	began = time.Now()
	d.late(1, burst)
	d.until(r, "so is the last", func(s *role.Status) bool { return s.Steps[1].Nodes == 7+burst+1 })
	require.GreaterOrEqual(t, time.Since(began), d.window)
	require.Equal(t, map[lethe.Revision]int{1: shards, 2: shards, 3: shards}, d.revisions(1))
}

// What closes or settles takes waiting records along: they do not wait for the window.
func TestLateRecordsGoAlongWithTheNextClose(t *testing.T) {
	t.Parallel()
	d := deploy(t)
	d.window = time.Hour
	r, _ := d.run(t.TempDir())
	d.fill(1)
	d.settle(1)
	d.until(r, "timestep 1 settles", func(s *role.Status) bool { return s.Count(lethe.Settled) == 1 })
	d.late(1, 0)
	d.late(1, 1)
	d.fill(2)
	d.until(r, "both are part of it", func(s *role.Status) bool { return s.Steps[1].Nodes == 7+2 })
	require.Equal(t, map[lethe.Revision]int{1: shards, 2: shards}, d.revisions(1))
}
