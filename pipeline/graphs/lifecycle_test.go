package graphs

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lethe"
	"lethe/canonical"
	"lethe/deletions/search"
	"lethe/ingest"
	"lethe/ingest/bus"
	"lethe/pipeline/role"
	"lethe/pipeline/role/roletest"
	"lethe/pipeline/wire"
)

// A timestep that closes is published as a graph; once it settles, as slices
// that hold every node once, and a manifest that names their digests.
func TestATimestepIsPublishedAsItCloses(t *testing.T) {
	d := deploy(t)
	r, _ := d.run(t.TempDir())
	d.fill(1)
	d.until(r, "timestep 1 closes", func(s *role.Status) bool { return s.Count(lethe.Closed) == 1 })

	messages, count := d.published(bus.Snapshots, bus.Slices)
	require.Equal(t, 1, count, "only the graph, before the labels are in")
	g, err := canonical.DecodeSnapshot(messages[wire.Key{Kind: wire.KindSnapshot, Timestep: 1}].Payload)
	require.NoError(t, err)
	require.Len(t, g.Nodes, 7)
	require.Len(t, g.Payments, 8)

	d.settle(1)
	d.until(r, "timestep 1 settles", func(s *role.Status) bool { return s.Count(lethe.Settled) == 1 })
	messages, count = d.published(bus.Snapshots, bus.Slices)
	require.Equal(t, 1+1+shards, count, "graph, manifest and slices")
	manifest, err := wire.DecodeManifest(messages[wire.Key{Kind: wire.KindManifest, Timestep: 1}].Payload)
	require.NoError(t, err)
	require.Equal(t, lethe.NoTimestep, manifest.Previous)
	held := make(map[lethe.Pseudonym]int)
	labelled := 0
	for shard := range lethe.ShardID(shards) {
		m := messages[wire.Key{Kind: wire.KindSlice, Shard: shard, Timestep: 1}]
		require.Equal(t, manifest.Slices[shard], canonical.DigestOf(m.Payload))
		s, err := canonical.DecodeSlice(m.Payload)
		require.NoError(t, err)
		labelled += s.Labelled()
		for _, p := range s.Nodes {
			held[p]++
		}
	}
	require.Len(t, held, 7)
	for _, node := range g.Nodes {
		require.Equal(t, 1, held[node.Pseudonym])
	}
	require.Equal(t, 4, labelled)
}

// A role that starts again publishes nothing twice; one that has lost its
// folder rebuilds from the topics and comes to the same bytes.
func TestStartingAgain(t *testing.T) {
	d := deploy(t)
	dir := t.TempDir()
	r, stop := d.run(dir)
	for at := range lethe.Timestep(3) {
		d.fill(at + 1)
		d.settle(at + 1)
	}
	settled := func(s *role.Status) bool { return s.Count(lethe.Settled) == 3 }
	d.until(r, "three timesteps settle", settled)
	before, count := d.published(bus.Snapshots, bus.Slices)
	require.Equal(t, 3*(2+shards), count)

	stop()
	r, stop = d.run(dir)
	d.until(r, "three timesteps are known", settled)
	d.settled(r, 4)
	_, count = d.published(bus.Snapshots, bus.Slices)
	require.Equal(t, 4*(2+shards), count)

	stop()
	r, _ = d.run(t.TempDir())
	d.until(r, "everything is rebuilt", func(s *role.Status) bool { return s.Count(lethe.Settled) == 4 })
	again, count := d.published(bus.Snapshots, bus.Slices)
	require.Equal(t, 2*4*(2+shards), count)
	for key, m := range before {
		require.Equal(t, m.Payload, again[key].Payload, "%s", key)
	}
}

// I8: what cannot be taken is a dead letter with its bytes, once, and the
// records around it are taken.
func TestRefusedRecordsBecomeDeadLetters(t *testing.T) {
	d := deploy(t)
	dir := t.TempDir()
	r, stop := d.run(dir)
	broken := map[string]string{
		"no-object":                 `[1,2]`,
		"one-feature":               `{"type":"transaction","id":"one-feature","timestep":1,"features":[1]}`,
		"never-comes>transaction-1": `{"type":"payment","source":"never-comes","target":"transaction-1","timestep":1}`,
	}
	sendBroken := func(key string) {
		d.send(bus.Transactions, ingest.Outgoing{Key: []byte(key), Value: []byte(broken[key])})
	}
	sendBroken("no-object")
	d.settled(r, 1)
	sendBroken("one-feature")
	sendBroken("never-comes>transaction-1")
	d.settled(r, 2)
	require.Equal(t, 14, r.Status().Transactions())
	stop()
	r, _ = d.run(dir)
	d.until(r, "both are known", func(s *role.Status) bool { return s.Count(lethe.Settled) == 2 })

	letters := make(map[string]string)
	n := 0
	for _, rec := range roletest.Records(t, d.topics, bus.DeadLetters) {
		letters[string(rec.Key)] = string(rec.Value)
		n++
	}
	require.Equal(t, broken, letters)
	require.Equal(t, len(broken), n, "each once")
}

// Graphs, slices and manifests are the same whether transactions came as JSON or as Protobuf, and
// however many goroutines decoded them.
func TestFormatsAndWorkersGiveTheSameBytes(t *testing.T) {
	t.Parallel()
	run := func(encoding ingest.Encoding, workers int) map[wire.Key]wire.Message {
		d := deploy(t)
		d.encoding, d.workers = encoding, workers
		r, stop := d.run(t.TempDir())
		for at := range lethe.Timestep(3) {
			d.fill(at + 1)
			d.settle(at + 1)
		}
		d.until(r, "all settle", func(s *role.Status) bool { return s.Count(lethe.Settled) == 3 })
		stop()
		newest, _ := d.published(bus.Snapshots, bus.Slices)
		require.Len(t, newest, 3*(1+1+shards))
		letters, _ := d.published(bus.DeadLetters)
		require.Empty(t, letters)
		return newest
	}
	want := run(ingest.Encoding{}, 1)
	require.Equal(t, want, run(ingest.Encoding{}, 5))
	require.Equal(t, want, run(ingest.Protobuf(9), 3))
}

// A batch that waits for others begins when its time has come, not at the next tick.
func TestTheRoleIsWokenWhenTimeHasPassed(t *testing.T) {
	b := newAsyncSearches(search.Searcher{}, Options{Beside: inGoroutine}.agreed())
	b.Wake(time.Millisecond)
	b.Wake(time.Millisecond)
	select {
	case <-b.wakes:
	case <-time.After(10 * time.Second):
		require.Fail(t, "not woken")
	}
}
