package partition

import (
	"cmp"
	"context"
	"errors"
	"math"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"lethe"
	"lethe/partition/graph"
	"lethe/partition/graphtest"
	"lethe/partition/refine"
	"lethe/partition/scores"
)

// with fills what a configuration leaves out with the method's defaults.
func with(c Config) Config {
	d := DefaultsOf(cmp.Or(c.Method, MethodGPFBFast))
	c.Method, c.Sweeps, c.Tolerance = d.Method, cmp.Or(c.Sweeps, d.Sweeps), d.Tolerance
	c.MaxShift, c.RefineSweeps = math.Inf(1), cmp.Or(c.RefineSweeps, d.RefineSweeps)
	if c.Alpha == 0 {
		c.Alpha, c.MaxShift = d.Alpha, d.MaxShift
	}
	return c
}

// sweeps are as many on every graph.
func sweeps(n int) refine.Sweeps { return refine.Sweeps{Least: n, Most: n} }

// refined is with, and refinement.
func refined(c Config) Config {
	c.Refine = true
	return with(c)
}

func drawOptions(rt *rapid.T, g *graph.Graph) Config {
	return with(Config{
		Shards:       rapid.IntRange(1, g.N()+3).Draw(rt, "shards"),
		Method:       rapid.SampledFrom(QuotaMethods()).Draw(rt, "method"),
		Seed:         rapid.Uint64().Draw(rt, "seed"),
		Alpha:        rapid.SampledFrom([]float64{0, 1e-3, 0.5}).Draw(rt, "alpha"),
		Sweeps:       rapid.IntRange(1, 15).Draw(rt, "sweeps"),
		RefineSweeps: sweeps(rapid.IntRange(1, 15).Draw(rt, "refine sweeps")),
		Refine:       rapid.Bool().Draw(rt, "refine"),
	})
}

func TestEveryPartitionIsEven(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		g := graphtest.Draw(rt, 40)
		opts := drawOptions(rt, g)
		a, report, err := Run(t.Context(), g, opts)
		require.NoError(rt, err)
		measured, err := scores.Of(g, a, opts.Shards) // checks that every node has one shard
		require.NoError(rt, err)
		require.Equal(rt, measured, report.Scores)
		graphtest.RequireEven(rt, measured)
		require.LessOrEqual(rt, measured.CutEdges, report.ProposedCut, "refinement never makes it worse")
		if opts.Method == MethodGPFBFast && opts.Shards > 1 && opts.Shards < len(g.WithoutIsolated().Kept) {
			require.Len(rt, report.Objective, report.Iterations+1)
			require.Positive(rt, report.Iterations)
			require.True(rt, report.Converged || report.Iterations == opts.Sweeps)
		} else {
			require.Empty(rt, report.Objective)
		}
		for k := 1; k < len(report.Objective); k++ {
			slack := 1e-9 * (1 + math.Abs(report.Objective[k]))
			require.GreaterOrEqual(rt, report.Objective[k], report.Objective[k-1]-slack, "objective of sweep %d", k)
		}
	})
}

// sameOnAnyProcessors partitions on one processor and on two, and returns what
// both give.
func sameOnAnyProcessors(t *testing.T, g *graph.Graph, opts Config) graph.Assignment {
	t.Helper()
	before := runtime.GOMAXPROCS(1)
	defer runtime.GOMAXPROCS(before)
	one, reportOne, err := Run(t.Context(), g, opts)
	runtime.GOMAXPROCS(2)
	two, reportTwo, err2 := Run(t.Context(), g, opts)
	require.NoError(t, errors.Join(err, err2))
	require.Equal(t, one, two)
	require.Equal(t, reportOne, reportTwo)
	return one
}

func TestSameSeedSameShardsOnAnyProcessors(t *testing.T) {
	g := graphtest.Communities(t, 6, 50)
	for _, method := range Methods() {
		opts := refined(Config{Method: method, Shards: 6, Seed: 5, RefineSweeps: sweeps(20)})
		one := sameOnAnyProcessors(t, g, opts)

		opts.Seed++
		other, _, err := Run(t.Context(), g, opts)
		require.NoError(t, err)
		require.NotEqual(t, one, other, "the seed has no effect")
	}
}

func TestRefinementFindsCommunities(t *testing.T) {
	// The group sizes are multiples of three, so that cutting between the groups
	// fills the quotas exactly: six edges, and no partition into six cuts fewer.
	g := graphtest.Communities(t, 6, 48)
	bound := map[string]int{MethodGPFBFast: 6, MethodRandom: g.NumEdges() / 4}
	for _, method := range QuotaMethods() {
		for seed := range uint64(5) {
			_, report, err := Run(t.Context(), g, refined(Config{Shards: 6, Method: method, Seed: seed, Sweeps: 60}))
			require.NoError(t, err)
			require.LessOrEqual(t, report.Scores.CutEdges, bound[method], "%s, seed %d", method, seed)
		}
	}
}

func TestLegalExtremes(t *testing.T) {
	complete := func(n int) (edges []lethe.Edge) {
		for a := range n {
			for b := range a {
				edges = append(edges, lethe.Edge{A: uint32(a), B: uint32(b)})
			}
		}
		return edges
	}
	for name, c := range map[string]struct {
		n, shards int
		edges     []lethe.Edge
		cut       int
	}{
		"no nodes":              {0, 4, nil, 0},
		"one node":              {1, 4, nil, 0},
		"fewer than shards":     {3, 5, complete(3), 3},
		"as many as shards":     {5, 5, complete(5), 10},
		"one more than shards":  {6, 5, complete(6), 14},
		"isolated":              {9, 3, nil, 0},
		"one shard":             {6, 1, complete(6), 0},
		"complete":              {6, 2, complete(6), 9},
		"complete, many shards": {30, 20, complete(30), 425},
	} {
		for _, method := range QuotaMethods() {
			t.Run(name+" "+method, func(t *testing.T) {
				classes := make([]uint8, c.n) // of four classes three are empty
				g, err := graph.New(c.n, c.edges, classes, 4)
				require.NoError(t, err)
				_, report, err := Run(t.Context(), g, refined(Config{Shards: c.shards, Method: method}))
				require.NoError(t, err)
				graphtest.RequireEven(t, report.Scores)
				require.Equal(t, c.cut, report.Scores.CutEdges)
			})
		}
	}
}

func TestRunStopsWhenTold(t *testing.T) {
	g := graphtest.Communities(t, 2, 12)
	for _, method := range Methods() {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		_, _, err := Run(ctx, g, refined(Config{Shards: 2, Method: method}))
		require.ErrorIs(t, err, context.Canceled)
	}
	// A context that ends during refinement.
	ctx := &countdown{Context: t.Context(), left: 40}
	_, _, err := Run(ctx, g, refined(Config{Shards: 2, Method: MethodRandom, RefineSweeps: sweeps(100_000_000)}))
	require.ErrorIs(t, err, context.Canceled)
	require.ErrorContains(t, err, "refinement")
}

// countdown is a context that is cancelled once it was asked often enough.
type countdown struct {
	context.Context
	left int
}

func (c *countdown) Err() error {
	if c.left--; c.left < 0 {
		return context.Canceled
	}
	return nil
}

func TestOptionsReportEverythingAtOnce(t *testing.T) {
	opts := Config{Shards: 0, Method: "metis", Alpha: math.NaN(), Tolerance: -1, Sweeps: -2,
		RefineSweeps: sweeps(-3)}
	_, _, err := Run(t.Context(), graphtest.Communities(t, 2, 6), opts)
	for _, want := range []string{"shards is 0", `"metis"`, "gpfb-fast", "alpha is NaN",
		"max_shift is 0", "tolerance is -1", "sweeps is -2", "refine_sweeps is -3"} {
		require.ErrorContains(t, err, want)
	}
}
