package baselines

import (
	"context"
	"math"
	"runtime"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"lethe/partition"
	"lethe/partition/graph"
	"lethe/partition/graphtest"
	"lethe/partition/refine"
)

// configured returns a method's defaults for a number of shards.
func configured(method string, shards int) Config {
	c := DefaultsOf(method)
	c.Shards, c.RefineSweeps = shards, refine.Sweeps{Least: 15, Most: 15}
	return c
}

// With either base, GPFB fills the quotas, and its objective never falls.
func TestEveryFormOfGPFBIsEven(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		g := graphtest.Draw(rt, 40)
		c := configured(rapid.SampledFrom([]string{partition.MethodGPFBFast, MethodGPFBSR}).Draw(rt, "method"),
			rapid.IntRange(1, g.N()+3).Draw(rt, "shards"))
		c.Seed, c.Unnormalised = rapid.Uint64().Draw(rt, "seed"), rapid.Bool().Draw(rt, "unnormalised")
		c.Config = c.WithAlpha(rapid.SampledFrom([]float64{0, 1e-3, 0.5}).Draw(rt, "alpha"))
		c.Beta, c.Refine = rapid.SampledFrom([]float64{0, 0.5, 3}).Draw(rt, "beta"), rapid.Bool().Draw(rt, "refine")
		c.Sweeps = rapid.IntRange(1, 15).Draw(rt, "sweeps")
		_, report, err := Run(t.Context(), g, c)
		require.NoError(rt, err)
		graphtest.RequireEven(rt, report.Scores)
		require.Equal(rt, c.Alpha, report.Alpha)
		for k := 1; k < len(report.Objective); k++ {
			slack := 1e-9 * (1 + math.Abs(report.Objective[k]))
			require.GreaterOrEqual(rt, report.Objective[k], report.Objective[k-1]-slack, "objective of sweep %d", k)
		}
	})
}

func TestSameSeedSameShardsOnAnyProcessors(t *testing.T) {
	g := graphtest.Communities(t, 6, 50)
	for _, method := range Methods() {
		for _, assign := range Assigns() {
			c := configured(method, 6)
			c.Assign, c.Seed = assign, 5
			run := func(processors int) graph.Assignment {
				defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(processors))
				a, _, err := Run(t.Context(), g, c)
				require.NoError(t, err)
				return a
			}
			one := run(1)
			require.Equal(t, one, run(2), "%s %s", method, assign)
			c.Seed++
			require.NotEqual(t, one, run(2), "the seed has no effect on %s %s", method, assign)
		}
	}
}

func TestRefinedGPFBSRFindsCommunities(t *testing.T) {
	g := graphtest.Communities(t, 6, 48)
	c := configured(MethodGPFBSR, 6)
	c.RefineSweeps, c.Sweeps = partition.Defaults().RefineSweeps, 60
	for c.Seed = range uint64(5) {
		_, report, err := Run(t.Context(), g, c)
		require.NoError(t, err)
		require.LessOrEqual(t, report.Scores.CutEdges, g.NumEdges()/10, "seed %d", c.Seed)
	}
}

func TestRunStopsWhenTold(t *testing.T) {
	g := graphtest.Communities(t, 2, 12)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, method := range Methods() {
		for _, assign := range Assigns() {
			c := configured(method, 2)
			c.Assign = assign
			_, _, err := Run(ctx, g, c)
			require.ErrorIs(t, err, context.Canceled, "%s %s", method, assign)
		}
	}
}

// The paper's random shards are even in size, and no swap touches them.
func TestPlainRandomIsEvenInSizeOnly(t *testing.T) {
	g := graphtest.Communities(t, 4, 50)
	c := configured(partition.MethodRandom, 7)
	c.Assign, c.Seed = AssignPlain, 4
	_, report, err := Run(t.Context(), g, c)
	require.NoError(t, err)
	require.LessOrEqual(t, slices.Max(report.Scores.Sizes)-slices.Min(report.Scores.Sizes), 1)
	require.Zero(t, report.Swaps)
	require.Greater(t, report.Scores.EdgeCut, 0.7)
	c.Assign = AssignQuotas
	_, quotas, err := Run(t.Context(), g, c)
	require.NoError(t, err)
	require.Less(t, report.Scores.Fairness, quotas.Scores.Fairness, "classes fall as they may")
}

func TestOptionsReportEverythingAtOnce(t *testing.T) {
	c := configured(MethodGPFBSR, 0)
	c.Assign, c.Beta = "kmedoids", -3
	err := c.Validate()
	for _, want := range []string{"shards is 0", `assign is "kmedoids"`, "beta is -3"} {
		require.ErrorContains(t, err, want)
	}
}
