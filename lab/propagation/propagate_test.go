package propagation_test

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"
	"pgregory.net/rapid"

	"lethe"
	"lethe/lab/measures"
	"lethe/lab/propagation"
	"lethe/scoring/graphtest"
)

func TestTranscripts(t *testing.T) {
	datadriven.RunTest(t, "testdata/propagate", func(t *testing.T, d *datadriven.TestData) string {
		if d.Cmd != "propagate" {
			d.Fatalf(t, "unknown command %q", d.Cmd)
		}
		return propagate(t, d)
	})
}

// propagate reads edges=(a-b,..) and one node per line: its class, or "?", and
// its posteriors. steps=(..) names the steps to run, alpha and rounds are those
// of both.
func propagate(t *testing.T, d *datadriven.TestData) string {
	g := &propagation.LabelledGraph{}
	if arg, ok := d.Arg("edges"); ok {
		for _, edge := range arg.Vals {
			var e lethe.Edge
			_, err := fmt.Sscanf(edge, "%d-%d", &e.A, &e.B)
			require.NoError(t, err)
			g.Edges = append(g.Edges, e)
		}
	}
	for line := range strings.Lines(d.Input) {
		fields := strings.Fields(line)
		class := measures.NoClass
		if fields[0] != "?" {
			var err error
			class, err = strconv.Atoi(fields[0])
			require.NoError(t, err)
		}
		g.Known = append(g.Known, class)
		g.Classes = len(fields) - 1
		for _, field := range fields[1:] {
			p, err := strconv.ParseFloat(field, 32)
			require.NoError(t, err)
			g.Posteriors = append(g.Posteriors, float32(p))
		}
	}
	var steps, alpha, scale, factor string
	opts := propagation.Defaults()
	d.MaybeScanArgs(t, "steps", &steps)
	opts.Correct, opts.Smooth = strings.Contains(steps, "correct"), strings.Contains(steps, "smooth")
	d.MaybeScanArgs(t, "rounds", &opts.CorrectSteps)
	opts.SmoothSteps = opts.CorrectSteps
	if d.HasArg("alpha") {
		d.ScanArgs(t, "alpha", &alpha)
		v, err := strconv.ParseFloat(alpha, 64)
		require.NoError(t, err)
		opts.CorrectAlpha, opts.SmoothAlpha = v, v
	}
	if d.HasArg("scale") {
		d.ScanArgs(t, "scale", &scale)
		opts.ResidualScale = propagation.ResidualScale(scale)
	}
	if d.HasArg("factor") {
		d.ScanArgs(t, "factor", &factor)
		v, err := strconv.ParseFloat(factor, 64)
		require.NoError(t, err)
		opts.ResidualFactor = v
	}
	out, err := propagation.Propagate(g, opts)
	if err != nil {
		return "error: " + err.Error()
	}
	return opts.String() + "\n" + rows(out, g.Classes)
}

func rows(values []float32, classes int) string {
	var b strings.Builder
	for at := 0; at < len(values); at += classes {
		fmt.Fprintf(&b, "%.4f\n", values[at:at+classes])
	}
	return b.String()
}

// labelled draws a graph of every kind with posteriors and some known labels.
func labelled() *rapid.Generator[*propagation.LabelledGraph] {
	return rapid.Custom(func(rt *rapid.T) *propagation.LabelledGraph {
		shape := graphtest.Graphs(12).Draw(rt, "graph")
		g := &propagation.LabelledGraph{Edges: shape.Edges, Classes: rapid.IntRange(2, 4).Draw(rt, "classes")}
		for range shape.N {
			sum, row := float32(0), make([]float32, g.Classes)
			for c := range row {
				row[c] = float32(rapid.IntRange(0, 9).Draw(rt, "posterior"))
				sum += row[c]
			}
			for c := range row {
				if sum == 0 {
					row[c] = 1 / float32(g.Classes)
				} else {
					row[c] /= sum
				}
			}
			g.Posteriors = append(g.Posteriors, row...)
			g.Known = append(g.Known, rapid.IntRange(measures.NoClass, g.Classes-1).Draw(rt, "known"))
		}
		return g
	})
}

func settings() *rapid.Generator[propagation.Options] {
	return rapid.Custom(func(rt *rapid.T) propagation.Options {
		return propagation.Options{
			Correct: rapid.Bool().Draw(rt, "correct"), Smooth: rapid.Bool().Draw(rt, "smooth"),
			CorrectAlpha: rapid.Float64Range(0.01, 0.99).Draw(rt, "α"),
			SmoothAlpha:  rapid.Float64Range(0.01, 0.99).Draw(rt, "α"),
			CorrectSteps: rapid.IntRange(1, 30).Draw(rt, "rounds"), SmoothSteps: rapid.IntRange(1, 30).Draw(rt, "rounds"),
			ResidualScale: rapid.SampledFrom([]propagation.ResidualScale{propagation.Autoscale, propagation.FDiff}).Draw(rt,
				"scale"),
			ResidualFactor: rapid.Float64Range(0.1, 2).Draw(rt, "factor"),
		}
	})
}

func propagated(t require.TestingT, g *propagation.LabelledGraph, opts propagation.Options) []float32 {
	out, err := propagation.Propagate(g, opts)
	require.NoError(t, err)
	return out
}

func TestPropagatedRowsAreDistributions(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		g, opts := labelled().Draw(rt, "graph"), settings().Draw(rt, "settings")
		before := fmt.Sprint(g)
		out := propagated(rt, g, opts)
		require.Equal(rt, before, fmt.Sprint(g), "the input stays as it was")
		require.Len(rt, out, len(g.Posteriors))
		alone := make([]bool, g.NumNodes())
		for i := range alone {
			alone[i] = g.Known[i] == measures.NoClass
		}
		for _, e := range g.Edges {
			alone[e.A], alone[e.B] = false, false
		}
		for i := range g.Known {
			sum := 0.0
			for c, p := range out[i*g.Classes:][:g.Classes] {
				require.True(rt, p >= 0 && p <= 1, "node %d: %v", i, p)
				sum += float64(p)
				if alone[i] {
					require.InDelta(rt, g.Posteriors[i*g.Classes+c], p, 1e-6, "isolated node %d keeps its posterior", i)
				}
			}
			require.InDelta(rt, 1, sum, 1e-6)
		}
	})
}

func TestPropagationFollowsTheNumbering(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		g, opts := labelled().Draw(rt, "graph"), settings().Draw(rt, "settings")
		// Two errors that cancel leave rounding, which autoscale would blow up.
		opts.ResidualScale = propagation.FDiff
		to := graphtest.Permutation(g.NumNodes(), rapid.Uint64().Draw(rt, "permutation"))
		moved := &propagation.LabelledGraph{
			Edges: graphtest.Relabel(g.Edges, to), Classes: g.Classes,
			Posteriors: make([]float32, len(g.Posteriors)), Known: make([]int, g.NumNodes()),
		}
		for i, class := range g.Known {
			moved.Known[to[i]] = class
			copy(moved.Posteriors[to[i]*g.Classes:], g.Posteriors[i*g.Classes:][:g.Classes])
		}
		out, movedOut := propagated(rt, g, opts), propagated(rt, moved, opts)
		for i := range g.Known {
			for c := range g.Classes {
				require.InDelta(rt, out[i*g.Classes+c], movedOut[to[i]*g.Classes+c], 1e-5)
			}
		}
	})
}

// In the limit the smooth step solves (I - αS) G = (1-α) G_0.
func TestSmoothConvergesToTheLinearSystem(t *testing.T) {
	const alpha = 0.9
	rapid.Check(t, func(rt *rapid.T) {
		g := labelled().Draw(rt, "graph")
		n := g.NumNodes()
		if n == 0 {
			return
		}
		system, start := mat.NewDense(n, n, nil), mat.NewDense(n, g.Classes, nil)
		degree := make([]float64, n)
		joined := map[lethe.Edge]bool{}
		for _, e := range g.Edges {
			e = lethe.Edge{A: min(e.A, e.B), B: max(e.A, e.B)}
			if !joined[e] {
				joined[e] = true
				degree[e.A]++
				degree[e.B]++
			}
		}
		for e := range joined {
			s := -alpha / math.Sqrt(degree[e.A]*degree[e.B])
			system.Set(int(e.A), int(e.B), s)
			system.Set(int(e.B), int(e.A), s)
		}
		for i := range n {
			system.Set(i, i, 1)
			for c := range g.Classes {
				if known := g.Known[i]; known == measures.NoClass {
					start.Set(i, c, float64(g.Posteriors[i*g.Classes+c]))
				} else if known == c {
					start.Set(i, c, 1)
				}
			}
		}
		var solved mat.Dense
		require.NoError(rt, solved.Solve(system, start))
		opts := propagation.Defaults()
		opts.Correct, opts.SmoothAlpha, opts.SmoothSteps = false, alpha, 400
		out := propagated(rt, g, opts)
		for i := range n {
			sum := mat.Sum(solved.RowView(i))
			for c := range g.Classes {
				require.InDelta(rt, solved.At(i, c)/sum, out[i*g.Classes+c], 1e-6)
			}
		}
	})
}

// Where models are right about every known label there is nothing to correct,
// and where all nodes agree there is nothing to smooth.
func TestFixedPoints(t *testing.T) {
	ring := append(graphtest.Path(9), lethe.Edge{A: 0, B: 8})
	g := &propagation.LabelledGraph{Edges: ring, Classes: 2}
	for i := range 9 {
		g.Posteriors = append(g.Posteriors, 0.25, 0.75)
		g.Known = append(g.Known, measures.NoClass)
		if i == 4 {
			g.Posteriors[8], g.Posteriors[9], g.Known[4] = 0, 1, 1
		}
	}
	for _, scale := range []propagation.ResidualScale{propagation.Autoscale, propagation.FDiff} {
		opts := propagation.Defaults()
		opts.Smooth, opts.ResidualScale = false, scale
		require.Equal(t, g.Posteriors, propagated(t, g, opts))
	}
	g.Known[4], g.Posteriors[8], g.Posteriors[9] = measures.NoClass, 0.25, 0.75
	require.Equal(t, g.Posteriors, propagated(t, g, propagation.Defaults()))
}

// A label reaches as far as there are rounds, so one that is forgotten leaves no
// trace beyond; and never another component.
func TestLabelsReachNoFartherThanTheRounds(t *testing.T) {
	const rounds = 3
	with := &propagation.LabelledGraph{Edges: graphtest.Path(10), Classes: 3}
	for range 12 { // nodes 10 and 11 are not on the path
		with.Posteriors = append(with.Posteriors, 0.2, 0.3, 0.5)
		with.Known = append(with.Known, measures.NoClass)
	}
	with.Edges = append(with.Edges, lethe.Edge{A: 10, B: 11})
	without := *with
	with.Known = append([]int(nil), with.Known...)
	with.Known[2] = 0
	opts := propagation.Defaults()
	opts.Correct, opts.SmoothSteps = false, rounds
	a, b := propagated(t, with, opts), propagated(t, &without, opts)
	for i := range 12 {
		same := fmt.Sprint(a[i*3:i*3+3]) == fmt.Sprint(b[i*3:i*3+3])
		require.Equal(t, i > 2+rounds, same, "node %d", i)
	}
}
