package aggregation_test

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
	"github.com/stretchr/testify/require"

	"lethe"
	"lethe/lab/aggregation"
	"lethe/lab/similarity"
	"lethe/scoring/graphtest"
)

// named are the graphs that a transcript defined.
type named map[string]*graphtest.Graph

func TestTranscripts(t *testing.T) {
	datadriven.Walk(t, "testdata", func(t *testing.T, path string) {
		graphs := named{}
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			switch d.Cmd {
			case "graph":
				return graphs.graph(t, d)
			case "weights":
				return graphs.weights(t, d)
			case "combine":
				return combine(t, d)
			case "learn":
				return learn(t, d)
			case "others":
				return others(t, d)
			default:
				d.Fatalf(t, "unknown command %q", d.Cmd)
				return ""
			}
		})
	})
}

// graph defines a graph from lines of edges "a-b".
func (n named) graph(t *testing.T, d *datadriven.TestData) string {
	var name string
	g := &graphtest.Graph{}
	d.ScanArgs(t, "name", &name)
	d.ScanArgs(t, "nodes", &g.N)
	for _, field := range strings.Fields(d.Input) {
		var e lethe.Edge
		_, err := fmt.Sscanf(field, "%d-%d", &e.A, &e.B)
		require.NoError(t, err)
		g.Edges = append(g.Edges, e)
	}
	n[name] = g
	return fmt.Sprintf("%d nodes, %d edges\n", g.N, len(g.Edges))
}

func (n named) weights(t *testing.T, d *datadriven.TestData) string {
	var method, test string
	temperature := fmt.Sprint(aggregation.DefaultTemperature)
	d.ScanArgs(t, "method", &method)
	d.ScanArgs(t, "test", &test)
	d.MaybeScanArgs(t, "temperature", &temperature)
	value, err := strconv.ParseFloat(temperature, 64)
	require.NoError(t, err)
	var shards []*similarity.Histogram
	if arg, ok := d.Arg("shards"); ok {
		for _, name := range arg.Vals {
			g := n[name]
			if g == nil { // an empty graph, if the transcript does not know it
				g = &graphtest.Graph{}
			}
			shards = append(shards, histogram(t, *g))
		}
	}
	by, err := aggregation.New(method, value)
	if err != nil {
		return "error: " + err.Error()
	}
	weights, err := weigh(method, value, n[test], shards)
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
	return fmt.Sprintln(aggregation.Weights(weights).Combine(posteriors, 1, nil))
}
