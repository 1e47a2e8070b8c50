package graphs

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lethe"
	"lethe/canonical"
	"lethe/ingest"
	"lethe/ingest/bus"
	"lethe/pipeline/role"
	"lethe/pipeline/role/roletest"
	"lethe/pipeline/wire"
)

// late sends a transaction of a timestep that has settled.
func (d *deployment) late(at lethe.Timestep, number int) {
	d.put(bus.Transactions)(ingest.EncodeTransaction(lethe.Transaction{
		ID: lethe.TransactionID(fmt.Sprintf("late-%d", number)), Timestep: at, Features: []float32{9, 9, 9},
	}))
}

// revisions counts the messages with slices of a timestep by their revision: as many
// replays of a shard as it has revisions beyond the first one.
func (d *deployment) revisions(at lethe.Timestep) map[lethe.Revision]int {
	out := make(map[lethe.Revision]int)
	for _, m := range roletest.Messages(d, d.topics, bus.Slices) {
		if m.Key.Timestep == at {
			out[m.Revision]++
		}
	}
	return out
}

// A burst of late records is one replay: they wait for each other, but for no longer than
// the window, though nothing else happens.
func TestABurstOfLateRecordsIsOneReplay(t *testing.T) {
	t.Parallel()
	d := deploy(t)
	d.window = 1500 * time.Millisecond
	r, _ := d.run(t.TempDir())
	d.settled(r, 1)
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
	d.settled(r, 1)
	d.late(1, 0)
	d.late(1, 1)
	d.fill(2)
	d.until(r, "both are part of it", func(s *role.Status) bool { return s.Steps[1].Nodes == 7+2 })
	require.Equal(t, map[lethe.Revision]int{1: shards, 2: shards}, d.revisions(1))
}

// outOfOrder has timesteps 1, 3 and 4; then late records, of which some make timestep 2,
// a payment whose end comes even later, and an erasure that empties timestep 2 again.
func outOfOrder(s *simulation) []func() {
	s.fill(1)
	s.fill(3)
	s.fill(4)
	s.settle(1)
	s.settle(3)
	send := func(topic bus.Topic) func(key, value []byte, err error) {
		return func(key, value []byte, err error) {
			require.NoError(s, err)
			s.send(topic, ingest.Outgoing{Key: key, Value: value})
		}
	}
	transactions, labels := send(bus.Transactions), send(bus.Labels)
	transaction := func(id lethe.TransactionID, at lethe.Timestep) {
		transactions(ingest.EncodeTransaction(lethe.Transaction{ID: id, Timestep: at, Features: []float32{9, 9, 9}}))
	}
	return append([]func(){
		func() { transaction("late-1", 1) },
		func() {
			transactions(ingest.EncodePayment(lethe.Payment{Source: "late-1", Target: "later-1", Timestep: 1}))
		},
		func() { transaction("later-1", 1) },
		func() { labels(ingest.EncodeLabel(lethe.LabelRecord{ID: "late-1", Timestep: 1, Label: lethe.Illicit})) },
		func() { transaction("alone", 2) },
	}, s.erasing("alone", transactionID(1, 0))...)
}

// What late records change, and the timestep that an erasure empties, are
// published until topics hold what a stream in order without the erased gives.
func TestLateRecordsAndEmptyTimestepsArePublished(t *testing.T) {
	t.Parallel()
	s := simulate(t, outOfOrder, 0, false)
	messages, _ := s.published(bus.Snapshots, bus.Slices)
	at := func(kind wire.Kind, t lethe.Timestep) wire.Message {
		return messages[wire.Key{Kind: kind, Timestep: t}]
	}
	g, err := canonical.DecodeSnapshot(at(wire.KindSnapshot, 1).Payload)
	require.NoError(t, err)
	require.Len(t, g.Nodes, 8)
	require.Len(t, g.Payments, 6, "the late payment, and of eight those that do not name the erased one")
	manifest, err := wire.DecodeManifest(at(wire.KindManifest, 1).Payload)
	require.NoError(t, err)
	require.Len(t, manifest.Labels, 5)
	for _, kind := range []wire.Kind{wire.KindSnapshot, wire.KindManifest, wire.KindSlice} {
		require.Empty(t, at(kind, 2).Payload, "%s of timestep 2", kind)
	}
	require.Equal(t, lethe.Timestep(1), at(wire.KindSnapshot, 3).Previous)
	manifest, err = wire.DecodeManifest(at(wire.KindManifest, 3).Payload)
	require.NoError(t, err)
	require.Equal(t, lethe.Timestep(1), manifest.Previous)
	require.Empty(t, newestOf(s, bus.DeadLetters), "the payment has its end")
}

// newestOf are the records of a topic that compaction would keep.
func newestOf(s *simulation, topic bus.Topic) map[string]ingest.Record {
	out := make(map[string]ingest.Record)
	for _, rec := range roletest.Records(s, s.topics, topic) {
		if out[string(rec.Key)] = rec; rec.Tombstone() || rec.Key[0] == '!' {
			delete(out, string(rec.Key))
		}
	}
	return out
}
