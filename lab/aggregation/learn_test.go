package aggregation_test

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"lethe"
	"lethe/lab/aggregation"
	"lethe/lab/measures"
)

// posteriorLines reads one row per line: a number, or the text for none, and per
// shard the probability of class 1 of two.
func posteriorLines(t *testing.T, input, noneText string, none int) (numbers []int, posteriors [][]float32) {
	t.Helper()
	for line := range strings.Lines(input) {
		fields := strings.Fields(line)
		number := none
		if fields[0] != noneText {
			var err error
			number, err = strconv.Atoi(fields[0])
			require.NoError(t, err)
		}
		numbers = append(numbers, number)
		if posteriors == nil {
			posteriors = make([][]float32, len(fields)-1)
		}
		for s, field := range fields[1:] {
			p, err := strconv.ParseFloat(field, 32)
			require.NoError(t, err)
			posteriors[s] = append(posteriors[s], float32(1-p), float32(p))
		}
	}
	return numbers, posteriors
}

// learn reads one row per line: its class, or "?", and per shard the
// probability of class 1 of two.
func learn(t *testing.T, d *datadriven.TestData) string {
	labels, posteriors := posteriorLines(t, d.Input, "?", measures.NoClass)
	opts := aggregation.DefaultLearning(0)
	var rate, norm string
	d.MaybeScanArgs(t, "epochs", &opts.Epochs)
	if d.HasArg("rate") {
		d.ScanArgs(t, "rate", &rate)
		opts.LearningRate, _ = strconv.ParseFloat(rate, 64)
	}
	if d.HasArg("norm") {
		d.ScanArgs(t, "norm", &norm)
		opts.Norm, _ = strconv.ParseFloat(norm, 64)
	}
	weights, err := aggregation.LearnWeights(posteriors, 2, labels, opts)
	if err != nil {
		return "error: " + err.Error()
	}
	return fmt.Sprintf("%.3f\n", weights)
}

// others reads one row per line: its owner, or "-", and per shard the
// probability of class 1 of two. All shards weigh the same.
func others(t *testing.T, d *datadriven.TestData) string {
	owners, posteriors := posteriorLines(t, d.Input, "-", -1)
	weights := slices.Repeat(aggregation.Weights{1 / float64(len(posteriors))}, len(posteriors))
	var out strings.Builder
	combined := weights.Combine(posteriors, 2, owners)
	for at := 0; at < len(combined); at += 2 {
		fmt.Fprintf(&out, "%.4f\n", combined[at:at+2])
	}
	return out.String()
}

// drawn makes posteriors of several shards, with labels.
func drawn(seed uint64, shards, count, classes int) ([][]float32, []int) {
	draw := lethe.NewDraw(seed, "test/learn")
	labels := make([]int, count)
	for i := range labels {
		labels[i] = draw.IntN(classes+1) - 1
	}
	posteriors := make([][]float32, shards)
	for s := range posteriors {
		for range count {
			row, sum := make([]float32, classes), float32(0)
			for c := range row {
				row[c] = draw.Float32() + 1e-3
				sum += row[c]
			}
			for _, p := range row {
				posteriors[s] = append(posteriors[s], p/sum)
			}
		}
	}
	return posteriors, labels
}

// The weights of a build that never held the erased rows: bit for bit.
func TestErasedRowsLeaveNoTraceInLearnedWeights(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		const classes = 3
		count := rapid.IntRange(2, 80).Draw(rt, "rows")
		posteriors, labels := drawn(rapid.Uint64().Draw(rt, "seed"), rapid.IntRange(1, 5).Draw(rt, "shards"), count, classes)
		labels[0] = 1
		never, neverLabels := make([][]float32, len(posteriors)), []int(nil)
		for i := range labels {
			if i > 0 && rapid.Bool().Draw(rt, "erased") {
				labels[i] = measures.NoClass
				continue
			}
			for s := range never {
				never[s] = append(never[s], posteriors[s][i*classes:][:classes]...)
			}
			neverLabels = append(neverLabels, labels[i])
		}
		opts := aggregation.DefaultLearning(7)
		opts.Epochs = 3
		got, err := aggregation.LearnWeights(posteriors, classes, labels, opts)
		require.NoError(rt, err)
		want, err := aggregation.LearnWeights(never, classes, neverLabels, opts)
		require.NoError(rt, err)
		require.Equal(rt, want, got)
		sum := 0.0
		for _, w := range got {
			require.GreaterOrEqual(rt, w, 0.0)
			sum += w
		}
		require.InDelta(rt, 1, sum, 1e-12)
	})
}

// Two shards, each right on its share of the rows: the cross entropy of the
// mixture is least where each weighs as much as it explains.
func TestLearnedWeightsAreThoseOfTheMixture(t *testing.T) {
	var posteriors [2][]float32
	labels := make([]int, 1000)
	for i := range labels {
		right := i%10 >= 7 // shard 1 alone explains 30 %
		for s := range posteriors {
			p := float32(0)
			if (s == 1) == right {
				p = 1
			}
			posteriors[s] = append(posteriors[s], p, 1-p)
		}
	}
	weights, err := aggregation.LearnWeights(posteriors[:], 2, labels, aggregation.DefaultLearning(0))
	require.NoError(t, err)
	require.InDelta(t, 0.7, weights[0], 0.02)
	require.InDelta(t, 0.3, weights[1], 0.02)
	again, err := aggregation.LearnWeights(posteriors[:], 2, labels, aggregation.DefaultLearning(0))
	require.NoError(t, err)
	require.Equal(t, weights, again)
}

// Every method is made by its name; learning without labels is the mean.
func TestAggregationsByName(t *testing.T) {
	for _, name := range aggregation.Methods() {
		by, err := aggregation.New(name, aggregation.DefaultTemperature)
		require.NoError(t, err)
		require.Equal(t, strings.HasPrefix(by.Name(), name), true)
	}
	_, err := aggregation.New("best", 0)
	require.ErrorIs(t, err, aggregation.ErrMethod)

	learned, err := aggregation.New(aggregation.MethodLearned, 0)
	require.NoError(t, err)
	rows := aggregation.Labelled{Posteriors: [][]float32{{1, 0}, {0, 1}}, Classes: 2, Labels: []int{0}}
	equal, err := learned.Combiner(aggregation.Evidence{Shards: 2})
	require.NoError(t, err)
	require.Equal(t, aggregation.Weights{0.5, 0.5}, equal)
	learnt, err := learned.Combiner(aggregation.Evidence{Shards: 2,
		Labelled: func() (aggregation.Labelled, error) { return rows, nil }})
	require.NoError(t, err)
	weights := learnt.(aggregation.Weights)
	require.Greater(t, weights[0], weights[1], "the shard that was right")
}
