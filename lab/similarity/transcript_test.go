package similarity_test

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
	"github.com/stretchr/testify/require"

	"lethe"
	"lethe/lab/similarity"
)

// named are the graphs that a transcript defined.
type named map[string]*similarity.Histogram

func TestTranscripts(t *testing.T) {
	datadriven.Walk(t, "testdata", func(t *testing.T, path string) {
		graphs := named{}
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			switch d.Cmd {
			case "graph":
				return graphs.graph(t, d)
			case "kernel":
				return graphs.kernel(t, d)
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
func (n named) graph(t *testing.T, d *datadriven.TestData) string {
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
		h, err := similarity.HistogramOfSlice(s, similarity.Defaults())
		require.NoError(t, err)
		n[name] = h
		return fmt.Sprintf("%d nodes\n", h.NumNodes())
	}
	h, err := similarity.HistogramOf(nodes, edges, similarity.Defaults())
	if err != nil {
		return "error: " + err.Error()
	}
	n[name] = h
	e, err := similarity.Embed(nodes, edges, similarity.Defaults())
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

func (n named) kernel(t *testing.T, d *datadriven.TestData) string {
	var x, y string
	d.ScanArgs(t, "a", &x)
	d.ScanArgs(t, "b", &y)
	matches, err := similarity.Intersections(n[x], n[y])
	require.NoError(t, err)
	k, err := similarity.Kernel(n[x], n[y])
	require.NoError(t, err)
	normalised, err := similarity.Normalised(n[x], n[y])
	require.NoError(t, err)
	return fmt.Sprintf("I %v\nk %v\nnormalised %.6f\n", matches, k, normalised)
}
