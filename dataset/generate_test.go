package dataset_test

import (
	"context"
	"math"
	"path/filepath"
	"regexp"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"lethe"
	"lethe/dataset"
)

func generate(tb testing.TB, opts dataset.GenerateOptions) *dataset.Stream {
	tb.Helper()
	s, err := dataset.Generate(opts)
	require.NoError(tb, err)
	return s
}

func TestGeneratedShape(t *testing.T) {
	if testing.Short() {
		t.Skip("generates whole streams")
	}
	for seed := range uint64(4) {
		options := dataset.GenerateDefaults()
		options.Seed = seed
		s := generate(t, options)
		require.NoError(t, validate(s))
		require.Equal(t, 165, s.FeatureCount)
		total := s.Totals()
		require.Equal(t, []int{20, 8000}, []int{total.Steps, total.Transactions})
		require.InDelta(t, 1.15, float64(total.Payments)/8000, .06, "payments a transaction")
		require.InDelta(t, .02, float64(total.Labels[lethe.Illicit])/8000, .005)
		require.InDelta(t, .21, float64(total.Labels[lethe.Licit])/8000, .005)
		hidden := 0
		for i, step := range s.Steps {
			require.Equal(t, lethe.Timestep(i+1), step.Timestep)
			require.Len(t, step.Transactions, 400)
			require.GreaterOrEqual(t, step.Totals().Labels[lethe.Illicit], 4, "a handful to learn from")
			hidden += checkTruth(t, step)
		}
		require.InDelta(t, .03, float64(hidden)/float64(total.Labels[lethe.Unknown]), .012, "illicit share of unknown")
	}
}

// checkTruth compares labels and schemes with the true classes and returns the
// number of illicit transactions that nobody found.
func checkTruth(tb testing.TB, step dataset.Step) int {
	tb.Helper()
	position := make(map[lethe.TransactionID]int)
	hidden := 0
	for i, tx := range step.Transactions {
		position[tx.ID] = i
		if step.Truth.Classes[i] == lethe.Illicit {
			hidden++
		}
	}
	for _, l := range step.Labels {
		require.Equal(tb, step.Truth.Classes[position[l.ID]], l.Label)
		if l.Label == lethe.Illicit {
			hidden--
		}
	}
	taken := make(map[int]bool)
	require.NotEmpty(tb, step.Truth.Typologies)
	for _, scheme := range step.Truth.Typologies {
		for _, i := range scheme.Nodes {
			require.Equal(tb, lethe.Illicit, step.Truth.Classes[i])
			require.False(tb, taken[i], "schemes are disjoint")
			taken[i] = true
		}
	}
	return hidden
}

// Every scheme that the truth names has to be found in the payments.
func TestTypologiesAreWired(t *testing.T) {
	options := dataset.GenerateDefaults()
	options.Seed, options.NodesPerStep, options.Features = 5, 2000, 2
	s := generate(t, options)
	var before, after [dataset.NumTypologies]int
	for _, step := range s.Steps {
		paid := make(map[[2]lethe.TransactionID]bool)
		for _, p := range step.Payments {
			paid[[2]lethe.TransactionID{p.Source, p.Target}] = true
		}
		for _, scheme := range step.Truth.Typologies {
			for _, p := range wanted(scheme) {
				source, target := step.Transactions[p[0]].ID, step.Transactions[p[1]].ID
				require.True(t, paid[[2]lethe.TransactionID{source, target}], "%s in timestep %d", scheme.Kind, step.Timestep)
			}
			if step.Timestep < 13 {
				before[scheme.Kind]++
			} else {
				after[scheme.Kind]++
			}
		}
	}
	t.Logf("schemes by kind before and after the drift: %v %v", before, after)
	for kind := dataset.FanIn; kind < dataset.NumTypologies; kind++ {
		require.Positive(t, before[kind], "%s before the drift", kind)
		require.Positive(t, after[kind], "%s after the drift", kind)
	}
	fans := func(n [dataset.NumTypologies]int) float64 {
		total := 0
		for _, k := range n {
			total += k
		}
		return float64(n[dataset.FanIn]+n[dataset.FanOut]) / float64(total)
	}
	require.InDelta(t, .5, fans(before), .1)
	require.InDelta(t, .2, fans(after), .1, "the drift displaces plain fans")
}

// wanted lists the payments that make a scheme.
func wanted(scheme dataset.Typology) [][2]int {
	var out [][2]int
	n := scheme.Nodes
	last := len(n) - 1
	for k := 1; k <= last; k++ {
		switch scheme.Kind {
		case dataset.FanIn:
			out = append(out, [2]int{n[k], n[0]})
		case dataset.FanOut:
			out = append(out, [2]int{n[0], n[k]})
		case dataset.Cycle, dataset.Layering:
			out = append(out, [2]int{n[k-1], n[k]})
		case dataset.ScatterGather:
			if k < last {
				out = append(out, [2]int{n[0], n[k]}, [2]int{n[k], n[last]})
			}
		}
	}
	if scheme.Kind == dataset.Cycle {
		out = append(out, [2]int{n[last], n[0]})
	}
	return out
}

func TestGenerateIsAFunctionOfItsOptions(t *testing.T) {
	opts := dataset.GenerateDefaults()
	opts.Steps, opts.NodesPerStep, opts.Features, opts.Seed = 4, 120, 30, 9
	want := generate(t, opts)
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	require.Equal(t, want, generate(t, opts))
	opts.Seed++
	other := generate(t, opts)
	require.NotEqual(t, want.Steps[0].Transactions[0].ID, other.Steps[0].Transactions[0].ID)
	require.NotEqual(t, want.Steps[0].Transactions[0].Features, other.Steps[0].Transactions[0].Features)
}

func TestALongerStreamBeginsWithAShorterOne(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		opts := dataset.GenerateDefaults()
		opts.Steps = rapid.IntRange(1, 4).Draw(rt, "steps")
		opts.NodesPerStep = rapid.IntRange(20, 80).Draw(rt, "nodes")
		opts.Features = rapid.IntRange(2, 12).Draw(rt, "features")
		opts.Seed = rapid.Uint64().Draw(rt, "seed")
		opts.DriftStep = lethe.Timestep(rapid.IntRange(1, 6).Draw(rt, "drift"))
		short := generate(t, opts)
		require.NoError(rt, validate(short))
		require.Equal(rt, opts.Features, short.FeatureCount)
		opts.Steps += rapid.IntRange(1, 3).Draw(rt, "more")
		long := generate(t, opts)
		require.Equal(rt, short.Steps, long.Steps[:len(short.Steps)])
	})
}

func TestExtremeFractionsFit(t *testing.T) {
	for nodes := 20; nodes < 60; nodes++ {
		options := dataset.GenerateDefaults()
		options.Steps, options.NodesPerStep, options.Features = 10, nodes, 2
		options.IllicitFraction, options.LicitFraction = .15, .5
		s := generate(t, options)
		require.NoError(t, validate(s))
	}
}

func TestGeneratedIDsLookLikeElliptics(t *testing.T) {
	nine := regexp.MustCompile(`^[1-9][0-9]{8}$`)
	options := dataset.GenerateDefaults()
	options.Steps, options.Features = 3, 2
	for _, step := range generate(t, options).Steps {
		for _, tx := range step.Transactions {
			require.Regexp(t, nine, string(tx.ID))
		}
	}
}

func TestGeneratedFeaturesAreStandardised(t *testing.T) {
	options := dataset.GenerateDefaults()
	options.Seed = 2
	s := generate(t, options)
	var sum, square [165]float64
	extreme := 0
	for _, step := range s.Steps {
		for _, tx := range step.Transactions {
			for j, v := range tx.Features {
				sum[j] += float64(v) / 8000
				square[j] += float64(v) * float64(v) / 8000
				if math.Abs(float64(v)) > 4 {
					extreme++
				}
			}
		}
	}
	for j := range sum {
		require.InDelta(t, 0, sum[j], .25, "mean of feature %d", j)
		require.InDelta(t, 1, math.Sqrt(square[j]-sum[j]*sum[j]), .4, "deviation of feature %d", j)
	}
	// A normal distribution has 6 in 100,000 beyond 4 deviations.
	require.Greater(t, float64(extreme)/(8000*165), .001, "tails are heavy")
}

func TestGenerateReportsAllOptions(t *testing.T) {
	options := dataset.GenerateDefaults()
	options.Steps, options.NodesPerStep, options.Features, options.DriftStep = -1, 19, 1, -3
	options.IllicitFraction, options.LicitFraction = math.NaN(), 1
	_, err := dataset.Generate(options)
	for _, want := range []string{
		"steps is -1, want 1 to 100000000", "nodes_per_step is 19, want 20 to", "features is 1, want 2 to",
		"illicit_fraction is NaN", "licit_fraction is 1", "drift_step is -3",
	} {
		require.ErrorContains(t, err, want)
	}
	options = dataset.GenerateDefaults()
	options.Steps, options.NodesPerStep = 1_000_000, 101
	_, err = dataset.Generate(options)
	require.ErrorContains(t, err, "steps is 1000000, want at most 990099 at 101 nodes per step")
}

func TestGeneratedStreamSurvivesWriting(t *testing.T) {
	options := dataset.GenerateDefaults()
	options.Steps, options.Seed = 3, 1
	s := generate(t, options)
	dir := filepath.Join(t.TempDir(), "generated")
	require.NoError(t, dataset.WriteElliptic(dir, s, false))
	again, err := dataset.LoadElliptic(context.Background(), dir)
	require.NoError(t, err)
	for i := range s.Steps {
		s.Steps[i].Truth = nil
	}
	require.Equal(t, s, again)
}
