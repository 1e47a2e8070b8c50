package snapshot

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/stretchr/testify/require"

	"lethe"
)

const benchFeatures = 165

func benchStore(b *testing.B) *Store {
	b.Helper()
	c := Defaults()
	c.AllowedLatenessTimesteps = ByControl
	s, err := Open(b.TempDir(), Options{
		Config: c, Secret: lethe.Secret{3}, FS: vfs.Default, TransactionPartitions: 1, LabelPartitions: 1,
	})
	require.NoError(b, err)
	b.Cleanup(func() { require.NoError(b, s.Close()) })
	require.NoError(b, s.Marks().FixFeatureCount(benchFeatures))
	return s
}

func takeMany(b *testing.B, s *Store, step lethe.Timestep, first, count int) {
	b.Helper()
	features := make([]float32, benchFeatures)
	batch, err := s.Begin(Source{Transactions, "topic", 0})
	require.NoError(b, err)
	offset := s.Offsets()[TopicPartition{"topic", 0}]
	for n := range count {
		features[n%benchFeatures] += float32(n)
		tr := lethe.Transaction{ID: lethe.TransactionID(fmt.Sprintf("%d-%d", step, first+n)), Timestep: step,
			Features: features}
		v, err := batch.Transaction(tr, Origin{Offset: offset})
		if err != nil || v.Outcome != Accepted {
			b.Fatal(v.Outcome, err)
		}
		offset++
	}
	require.NoError(b, batch.Commit(offset))
}

// BenchmarkBatch1000 takes and commits 1,000 transactions of 165 features.
func BenchmarkBatch1000(b *testing.B) {
	s := benchStore(b)
	first := 0
	for b.Loop() {
		takeMany(b, s, 1, first, 1000)
		first += 1000
	}
}

// BenchmarkTimestep4000 closes, settles and erases from a timestep of 4,000
// transactions; taking them is not timed.
func BenchmarkTimestep4000(b *testing.B) {
	s := benchStore(b)
	var closing, settling, erasing float64
	for n := range b.N {
		step := lethe.Timestep(n + 1)
		takeMany(b, s, step, 0, 4000)
		batch, err := s.Begin(Source{Transactions, "topic", 0})
		require.NoError(b, err)
		end(b, batch, step)
		require.NoError(b, batch.Commit(0))
		batch, err = s.Begin(Source{Labels, "labels", 0})
		require.NoError(b, err)
		end(b, batch, step)
		require.NoError(b, batch.Commit(0))
		started := b.Elapsed()
		err = CloseTimestep(context.Background(), s, step)
		require.NoError(b, err)
		closed := b.Elapsed()
		err = s.SettleTimestep(context.Background(), step, oneShard)
		require.NoError(b, err)
		settled := b.Elapsed()
		err = s.Erase(context.Background(), lethe.Transactions(lethe.TransactionID(fmt.Sprintf("%d-%d", step, 17))))
		require.NoError(b, err)
		closing += (closed - started).Seconds()
		settling += (settled - closed).Seconds()
		erasing += (b.Elapsed() - settled).Seconds()
	}
	b.ReportMetric(1000*closing/float64(b.N), "close-ms")
	b.ReportMetric(1000*settling/float64(b.N), "settle-ms")
	b.ReportMetric(1000*erasing/float64(b.N), "erase-ms")
}

// BenchmarkScrub1000000 writes staging anew that knows a million transactions of closed timesteps, as an erasure does,
// while records are taken. It tells for how long the goroutine that owns the store is held up, and how long a
// thousand records take at most meanwhile.
func BenchmarkScrub1000000(b *testing.B) {
	s := benchStore(b)
	const all, together, atOnce = 1_000_000, 4000, 1000
	for step := lethe.Timestep(1); step <= all/together; step++ {
		takeMany(b, s, step, 0, together)
		batch, err := s.Begin(Source{Transactions, "topic", 0})
		require.NoError(b, err)
		end(b, batch, step)
		require.NoError(b, batch.Commit(0))
		require.NoError(b, CloseTimestep(b.Context(), s, step))
	}
	var held, longest time.Duration
	taken := 0
	for b.Loop() {
		started := time.Now()
		scrub, err := s.BeginScrub()
		require.NoError(b, err)
		here := time.Since(started)
		filled := make(chan error, 1)
		go func() { filled <- scrub.Fill(b.Context()) }()
		for going := true; going; {
			started = time.Now()
			takeMany(b, s, all/together+1, taken, atOnce)
			taken, longest = taken+atOnce, max(longest, time.Since(started))
			select {
			case err := <-filled:
				require.NoError(b, err)
				going = false
			default:
			}
		}
		started = time.Now()
		require.NoError(b, scrub.Switch())
		held = max(held, here, time.Since(started))
		require.NoError(b, scrub.Clean())
	}
	b.ReportMetric(float64(held.Milliseconds()), "held-ms")
	b.ReportMetric(float64(longest.Milliseconds()), "batch-ms")
	b.ReportMetric(float64(taken)/float64(b.N), "taken")
}
