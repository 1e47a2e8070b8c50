package trainer

import (
	"context"
	"fmt"
	"math"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/cockroachdb/datadriven"
	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"lethe"
	"lethe/canonical"
	"lethe/trainer/kernels"
	"lethe/trainer/models"
)

// childVariable makes a test process print one digest and stop.
const childVariable = "LETHE_TRAINER_CHILD"

// chain trains a shard straight through its slices, as the service does, and
// returns every checkpoint.
func chain(t testing.TB, e *Engine, shard lethe.ShardID, slices []*lethe.Slice) []*Checkpoint {
	t.Helper()
	out := make([]*Checkpoint, 0, len(slices))
	var previous *Checkpoint
	for i := range slices {
		from := max(0, i+1-e.config.WindowTimesteps)
		next, _, err := e.Train(context.Background(), shard, previous, slices[from:i+1])
		require.NoError(t, err)
		out, previous = append(out, next), next
	}
	return out
}

func digestOf(c *Checkpoint) lethe.Digest { return canonical.DigestOf(EncodeCheckpoint(c)) }

// sampleDigest is a digest of checkpoint and probabilities after four slices.
func sampleDigest(t testing.TB, e *Engine, shard lethe.ShardID) string {
	slices := makeWindow(shard, 4, 30, 11)
	last := chain(t, e, shard, slices)[3]
	in := Input{Rows: 40, Cols: 11, Features: randomMatrix(40, 11, 8).Data, Edges: pathEdges(40)}
	w := canonical.NewWriter("TEST", 1)
	w.Bytes(EncodeCheckpoint(last))
	w.Float32s(illicit(t, e, last, in))
	return canonical.DigestOf(w.Seal()).String()
}

// digestOfEveryModel is a digest of what every model makes of a sparse slice.
func digestOfEveryModel(t testing.TB, k kernels.Set) string {
	w := canonical.NewWriter("TEST", 1)
	for _, model := range models.Served().Names() {
		w.Bytes(checkpointOf(t, model, k))
	}
	return canonical.DigestOf(w.Seal()).String()
}

// checkpointOf is what a model makes of a sparse slice.
func checkpointOf(t testing.TB, model string, k kernels.Set) []byte {
	e := newEngine(t, with(model, func(c *Config) { c.Classes, c.Hidden, c.Passes = 7, 8, 2 }), k)
	c, _, err := e.Train(context.Background(), 0, nil, []*lethe.Slice{citationSlice()})
	require.NoError(t, err)
	return EncodeCheckpoint(c)
}

func TestSameBytesForAnyThreadCount(t *testing.T) {
	for _, k := range kernelSets(t) {
		digests := make(map[string]bool)
		for _, threads := range []int{1, 2, 8} {
			before := runtime.GOMAXPROCS(threads)
			digests[sampleDigest(t, newEngine(t, with(models.EllipticGIN, func(c *Config) { c.Hidden = 32 }), k), 1)] = true
			runtime.GOMAXPROCS(before)
		}
		require.Len(t, digests, 1, k.Name)
	}
}

// Shards of different sizes share one engine and thus its programs. None may
// see the others, nor what a program computed before.
func TestSameBytesFromASharedEngine(t *testing.T) {
	const shards = 6
	shared := newEngine(t, with(models.EllipticGIN, func(c *Config) { c.Hidden = 32 }), kernels.Default())
	want := make([]string, shards)
	for shard := range want {
		want[shard] = sampleDigest(t, newEngine(t, with(models.EllipticGIN, func(c *Config) { c.Hidden = 32 }),
			kernels.Default()), lethe.ShardID(shard))
	}
	for range 2 {
		got := make([]string, shards)
		var group sync.WaitGroup
		for shard := range got {
			group.Go(func() { got[shard] = sampleDigest(t, shared, lethe.ShardID(shard)) })
		}
		group.Wait()
		require.Equal(t, want, got)
	}
}

// What a larger slice left in a program's memory must not reach a smaller one,
// not even if it is infinite.
func TestRowsBehindTheSliceNeverCount(t *testing.T) {
	opts := with(models.EllipticGIN, func(c *Config) { c.Hidden = 32 })
	small := []*lethe.Slice{makeSlice(sliceSpec{timestep: 1, nodes: 33, features: 11, stubs: 3})}
	want := chain(t, newEngine(t, opts, kernels.Default()), 0, small)[0]

	e := newEngine(t, opts, kernels.Default())
	large := makeSlice(sliceSpec{timestep: 1, nodes: 50, features: 11, stubs: 14})
	large.Features[0] = float32(math.Inf(1))
	_, _, err := e.Train(context.Background(), 0, nil, []*lethe.Slice{large})
	require.ErrorIs(t, err, ErrNotFinite)
	require.Equal(t, digestOf(want), digestOf(chain(t, e, 0, small)[0]))
}

// Every model in fresh processes of one thread and of two; LETHE_PROCESSES asks
// for more than four.
func TestSameBytesInFreshProcesses(t *testing.T) {
	if os.Getenv(childVariable) != "" {
		_, err := os.Stdout.WriteString("digest " + digestOfEveryModel(t, kernels.Default()) + "\n")
		require.NoError(t, err)
		return
	}
	if testing.Short() {
		t.Skip("starts processes")
	}
	processes := 4
	if n, err := strconv.Atoi(os.Getenv("LETHE_PROCESSES")); err == nil {
		processes = n
	}
	digests := make(map[string]bool)
	for i := range processes {
		child := exec.Command(os.Args[0], "-test.run=^TestSameBytesInFreshProcesses$", "-test.count=1")
		child.Env = append(os.Environ(), childVariable+"=1", fmt.Sprintf("GOMAXPROCS=%d", 1+i%2))
		output, err := child.Output()
		require.NoError(t, err)
		_, rest, found := strings.Cut(string(output), "digest ")
		require.True(t, found, "%s", output)
		digests[rest[:64]] = true
	}
	require.Len(t, digests, 1)
}

// One worker and four share an engine over shards of every model.
func TestSameBytesForAnyNumberOfWorkers(t *testing.T) {
	if testing.Short() {
		t.Skip("trains every model twice")
	}
	const shards = 6
	for _, model := range models.Served().Names() {
		e := newEngine(t, with(model, func(c *Config) { c.Hidden = 8 }), kernels.Default())
		train := func(workers int) []lethe.Digest {
			out := make([]lethe.Digest, shards)
			var group errgroup.Group
			group.SetLimit(workers)
			for shard := range lethe.ShardID(shards) {
				group.Go(func() error {
					c, _, err := e.Train(context.Background(), shard, nil, makeWindow(shard, 3, 20+int(shard)*9, 11))
					if err == nil {
						out[shard] = digestOf(c)
					}
					return err
				})
			}
			require.NoError(t, group.Wait())
			return out
		}
		require.Equal(t, train(1), train(4), model)
	}
}

// The portable set's bytes are pinned, since it promises the same ones on every
// architecture. A change of the arithmetic or of the format shows here. A case of
// testdata/pinned names a model that is trained on a sparse slice, or "sample" and
// one that goes through the window of the other tests.
func TestPortableBytesArePinned(t *testing.T) {
	datadriven.RunTest(t, "testdata/pinned", func(t *testing.T, d *datadriven.TestData) string {
		if len(d.CmdArgs) == 0 {
			return canonical.DigestOf(checkpointOf(t, d.Cmd, kernels.Portable())).String() + "\n"
		}
		e := newEngine(t, with(d.CmdArgs[0].Key, func(c *Config) { c.Hidden = 32 }), kernels.Portable())
		return sampleDigest(t, e, 1) + "\n"
	})
}

// pathEdges joins the nodes of a path; the last node stays alone.
func pathEdges(nodes uint32) []lethe.Edge {
	var edges []lethe.Edge
	for i := range nodes - 2 {
		edges = append(edges, lethe.Edge{A: i, B: i + 1})
	}
	return edges
}
