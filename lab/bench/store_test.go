package bench_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lethe/dataset"
	"lethe/lab/bench"
	"lethe/lab/protocol"
	"lethe/partition"
	"lethe/trainer/kernels"
)

// runPartitions partitions a generated stream once per seed and returns how many
// cells were measured and how many were kept.
func runPartitions(t *testing.T, data, out string, seeds ...uint64) (measured, kept int) {
	t.Helper()
	store, err := bench.OpenStore(out)
	require.NoError(t, err)
	defer store.Close()
	var cells []bench.Cell
	for _, seed := range seeds {
		cells = append(cells, partitionCell(seed))
	}
	runner := &bench.Runner{
		Data: bench.NewData(data), Store: store, Kernels: kernels.Default(), Now: time.Now,
		Progress: func(p bench.Progress) { measured, kept = p.Done-p.Kept, p.Kept },
	}
	results, err := runner.Run(t.Context(), cells)
	require.NoError(t, err)
	for _, c := range cells {
		r, err := results.Get(c)
		require.NoError(t, err)
		require.Equal(t, 60, r.Outcome.Shape.Nodes)
	}
	return measured, kept
}

func partitionCell(seed uint64) bench.Cell {
	s := protocol.Defaults("none")
	s.Shards, s.Seed, s.Partition.Method = 2, seed, partition.MethodRandom
	return bench.Cell{Dataset: bench.BitcoinOTC, Partition: &bench.PartitionCell{Settings: s}}
}

func writeStream(t *testing.T, dir string, seed uint64) {
	t.Helper()
	options := dataset.GenerateDefaults()
	options.Steps, options.NodesPerStep, options.Seed = 2, 30, seed
	s, err := dataset.Generate(options)
	require.NoError(t, err)
	path := filepath.Join(dir, "bitcoin-otc", "elliptic-format")
	require.NoError(t, os.RemoveAll(path))
	require.NoError(t, dataset.WriteElliptic(path, s, false))
}

func TestARunGoesOnWhereItEnded(t *testing.T) {
	data, out := t.TempDir(), t.TempDir()
	writeStream(t, data, 1)
	measured, kept := runPartitions(t, data, out, 1, 2, 2)
	require.Equal(t, []int{2, 0}, []int{measured, kept}, "a cell that occurs twice is measured once")

	// A crash in the middle of a line costs that cell and no other.
	path := filepath.Join(out, bench.StoreFile)
	content, err := os.ReadFile(path)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(path, content[:len(content)-10], 0o600))
	measured, kept = runPartitions(t, data, out, 1, 2, 3)
	require.Equal(t, []int{2, 1}, []int{measured, kept})

	// Other bytes under the same name are other data.
	writeStream(t, data, 2)
	measured, kept = runPartitions(t, data, out, 1, 2)
	require.Equal(t, []int{2, 0}, []int{measured, kept})
}

// Asked for what is finished only, a run measures nothing and says so of the rest.
func TestOnlyFinishedCells(t *testing.T) {
	data, out := t.TempDir(), t.TempDir()
	writeStream(t, data, 1)
	runPartitions(t, data, out, 1)
	store, err := bench.OpenStore(out)
	require.NoError(t, err)
	defer store.Close()
	first, second := partitionCell(1), partitionCell(2)
	runner := &bench.Runner{
		Data: bench.NewData(data), Store: store, Kernels: kernels.Default(), Now: time.Now, OnlyFinished: true,
		Progress: func(p bench.Progress) { require.Equal(t, p.Kept, p.Total) },
	}
	results, err := runner.Run(t.Context(), []bench.Cell{first, second})
	require.NoError(t, err)
	_, err = results.Get(first)
	require.NoError(t, err)
	_, err = results.Get(second)
	require.ErrorIs(t, err, bench.ErrAbsent)
	require.ErrorContains(t, err, "not run yet")
	require.True(t, results.Any([]bench.Cell{second, first}))
	require.False(t, results.Any([]bench.Cell{second}))
}

// Whoever only reads may do so while another process writes: the line that is half
// written stays, and is whole later.
func TestReadingLeavesTheFileAlone(t *testing.T) {
	data, out := t.TempDir(), t.TempDir()
	writeStream(t, data, 1)
	runPartitions(t, data, out, 1)
	path := filepath.Join(out, bench.StoreFile)
	whole, err := os.ReadFile(path)
	require.NoError(t, err)
	half := append(slices.Clone(whole), whole[:len(whole)/2]...)
	require.NoError(t, os.WriteFile(path, half, 0o600))
	store, err := bench.ReadStore(out)
	require.NoError(t, err)
	runner := &bench.Runner{
		Data: bench.NewData(data), Store: store, Kernels: kernels.Default(), Now: time.Now, OnlyFinished: true,
		Progress: func(bench.Progress) {},
	}
	results, err := runner.Run(t.Context(), []bench.Cell{partitionCell(1)})
	require.NoError(t, err)
	require.True(t, results.Any([]bench.Cell{partitionCell(1)}))
	require.NoError(t, store.Close())
	after, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, half, after)

	empty := filepath.Join(t.TempDir(), "none")
	_, err = bench.ReadStore(empty)
	require.NoError(t, err)
	require.NoDirExists(t, empty)
}

// An interrupted run has whole repetitions, in whatever order a table lists its cells.
func TestCellsAreMeasuredSeedBySeed(t *testing.T) {
	data := t.TempDir()
	writeStream(t, data, 1)
	store, err := bench.OpenStore(t.TempDir())
	require.NoError(t, err)
	defer store.Close()
	var seeds []uint64
	runner := &bench.Runner{
		Data: bench.NewData(data), Store: store, Kernels: kernels.Default(), Now: time.Now,
		Progress: func(p bench.Progress) {
			if p.Last.Partition != nil {
				seeds = append(seeds, p.Last.Partition.Settings.Seed)
			}
		},
	}
	_, err = runner.Run(t.Context(), []bench.Cell{partitionCell(3), partitionCell(1), partitionCell(2)})
	require.NoError(t, err)
	require.Equal(t, []uint64{1, 2, 3}, seeds)
}

func TestADamagedStoreIsRefused(t *testing.T) {
	out := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(out, bench.StoreFile), []byte("{}\nrubbish\n"), 0o600))
	_, err := bench.OpenStore(out)
	require.ErrorContains(t, err, "line 2")
}

func TestAbsentDataIsNamed(t *testing.T) {
	data := bench.NewData(t.TempDir())
	for name, file := range map[string]string{
		bench.DBLP:     "file dblp.npz",
		bench.Elliptic: "file elliptic_bitcoin_dataset/elliptic_txs_features.csv",
	} {
		_, err := data.Find(name)
		require.True(t, errors.Is(err, bench.ErrAbsent))
		require.ErrorContains(t, err, file)
	}
}
