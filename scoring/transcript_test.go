package scoring_test

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
	"github.com/stretchr/testify/require"

	"lethe"
	"lethe/scoring"
)

// bench holds the graphs that a transcript named.
type bench struct {
	graphs map[string]*scoring.Histogram
	edges  map[string]*graph
	tally  scoring.Tally
}

func TestTranscripts(t *testing.T) {
	datadriven.Walk(t, "testdata", func(t *testing.T, path string) {
		b := &bench{graphs: map[string]*scoring.Histogram{}, edges: map[string]*graph{}}
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			switch d.Cmd {
			case "graph":
				return b.graph(t, d)
			case "kernel":
				return b.kernel(t, d)
			case "weights":
				return b.weights(t, d)
			case "combine":
				return combine(t, d)
			case "propagate":
				return propagate(t, d)
			case "learn":
				return learn(t, d)
			case "others":
				return others(t, d)
			case "score":
				return b.score(t, d)
			case "summary":
				return b.summary(t, d)
			default:
				d.Fatalf(t, "unknown command %q", d.Cmd)
				return ""
			}
		})
	})
}

// graph defines a graph from lines of edges "a-b" and prints, per column, the
// eigenvalue and the occupied cells as cell:count. stubs=(owner,..) makes it a
// slice.
func (b *bench) graph(t *testing.T, d *datadriven.TestData) string {
	var name string
	var nodes int
	d.ScanArgs(t, "name", &name)
	d.ScanArgs(t, "nodes", &nodes)
	fields := strings.Fields(d.Input)
	edges := make([]lethe.Edge, len(fields))
	for i, field := range fields {
		_, err := fmt.Sscanf(field, "%d-%d", &edges[i].A, &edges[i].B)
		require.NoError(t, err)
	}
	if d.HasArg("stubs") {
		s := &lethe.Slice{Nodes: make([]lethe.Pseudonym, nodes), Edges: edges}
		arg, _ := d.Arg("stubs")
		for _, owner := range arg.Vals {
			at, err := strconv.Atoi(owner)
			require.NoError(t, err)
			s.Stubs = append(s.Stubs, lethe.Stub{Owner: uint32(at)})
		}
		h, err := scoring.HistogramOfSlice(s, scoring.PyramidOptions{})
		require.NoError(t, err)
		b.graphs[name] = h
		return fmt.Sprintf("%d nodes\n", h.NumNodes())
	}
	h, err := scoring.HistogramOf(nodes, edges, scoring.PyramidOptions{})
	if err != nil {
		return "error: " + err.Error()
	}
	b.graphs[name], b.edges[name] = h, &graph{nodes, edges}
	e, err := scoring.Embed(nodes, edges, scoring.PyramidOptions{})
	require.NoError(t, err)
	var out strings.Builder
	for column := range e.Dimensions {
		value := "none"
		if column < len(e.Values) {
			value = fmt.Sprintf("%.4f", e.Values[column]+0)
		}
		fmt.Fprintf(&out, "λ %s cells", value)
		for _, c := range h.Cells() {
			if c[0]>>4 == column {
				fmt.Fprintf(&out, " %d:%d", c[0]&15, c[1])
			}
		}
		out.WriteByte('\n')
	}
	return out.String()
}

func (b *bench) kernel(t *testing.T, d *datadriven.TestData) string {
	var x, y string
	d.ScanArgs(t, "a", &x)
	d.ScanArgs(t, "b", &y)
	matches, err := scoring.Intersections(b.graphs[x], b.graphs[y])
	require.NoError(t, err)
	k, err := scoring.Kernel(b.graphs[x], b.graphs[y])
	require.NoError(t, err)
	normalised, err := scoring.Normalised(b.graphs[x], b.graphs[y])
	require.NoError(t, err)
	return fmt.Sprintf("I %v\nk %v\nnormalised %.6f\n", matches, k, normalised)
}

func (b *bench) weights(t *testing.T, d *datadriven.TestData) string {
	var method, test string
	temperature := "0"
	d.ScanArgs(t, "method", &method)
	d.ScanArgs(t, "test", &test)
	d.MaybeScanArgs(t, "temperature", &temperature)
	value, err := strconv.ParseFloat(temperature, 64)
	require.NoError(t, err)
	var shards []*scoring.Histogram
	if arg, ok := d.Arg("shards"); ok {
		for _, name := range arg.Vals {
			shards = append(shards, b.graphs[name])
		}
	}
	by, err := scoring.NewAggregation(scoring.Method(method), value)
	if err != nil {
		return "error: " + err.Error()
	}
	weights, err := weigh(scoring.Method(method), value, b.edges[test], shards)
	require.NoError(t, err)
	return fmt.Sprintf("%s %.4f\n", by.Name(), weights)
}

// combine reads one shard per line: its weight, then its posteriors.
func combine(t *testing.T, d *datadriven.TestData) string {
	var posteriors [][]float32
	var weights []float64
	for line := range strings.Lines(d.Input) {
		var row []float32
		for i, field := range strings.Fields(line) {
			x, err := strconv.ParseFloat(field, 64)
			require.NoError(t, err)
			if i == 0 {
				weights = append(weights, x)
			} else {
				row = append(row, float32(x))
			}
		}
		posteriors = append(posteriors, row)
	}
	return fmt.Sprintln(scoring.Combine(posteriors, weights))
}

// score adds lines of "probability label" to the tally.
func (b *bench) score(t *testing.T, d *datadriven.TestData) string {
	var timestep int64
	d.ScanArgs(t, "timestep", &timestep)
	for line := range strings.Lines(d.Input) {
		field := strings.Fields(line)
		probability, err := strconv.ParseFloat(field[0], 64)
		require.NoError(t, err)
		label, err := lethe.ParseLabel(field[1])
		require.NoError(t, err)
		b.tally.Add(lethe.Timestep(timestep), probability, label)
	}
	return fmt.Sprintln(b.tally.Timesteps())
}

func (b *bench) summary(t *testing.T, d *datadriven.TestData) string {
	var first, last int64
	d.ScanArgs(t, "first", &first)
	d.ScanArgs(t, "last", &last)
	return asJSON(t, b.tally.Summarise(lethe.Timestep(first), lethe.Timestep(last), 0.5))
}
