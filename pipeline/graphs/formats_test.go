package graphs

import (
	"testing"

	"github.com/stretchr/testify/require"

	"lethe"
	"lethe/ingest"
	"lethe/ingest/bus"
	"lethe/pipeline/role"
	"lethe/pipeline/wire"
)

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
