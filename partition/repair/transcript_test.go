package repair

import (
	"fmt"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"lethe"
	"lethe/partition/graph"
	"lethe/partition/graphtest"
)

// TestTranscripts knows
//
//	slices shards=<v> [repair=] [min-stubs=]
//	                        the graph as a snapshot, under the assignment given
func TestTranscripts(t *testing.T) {
	graphtest.Transcripts(t, map[string]graphtest.Command{
		"slices": func(t *testing.T, s *graphtest.Session, d *datadriven.TestData) (string, error) {
			opts := Defaults()
			opts.Seed = graphtest.Seed(t, d)
			d.MaybeScanArgs(t, "repair", &opts.Method)
			d.MaybeScanArgs(t, "min-stubs", &opts.MinStubs)
			return showSlices(s.Snapshot(), graphtest.ReadAssignment(t, d.Input), graphtest.Shards(t, d), opts)
		},
	})
}

func showSlices(s *lethe.Snapshot, a graph.Assignment, shards int, opts Config) (string, error) {
	all, err := Slices(s, lethe.NoTimestep, a, shards, opts)
	if err != nil {
		return "", err
	}
	var out strings.Builder
	for _, slice := range all {
		fmt.Fprintf(&out, "shard %d\n", slice.Shard)
		for at, p := range slice.Nodes {
			fmt.Fprintf(&out, "  node %d: %s, features %v\n", p[0], slice.Labels[at], slice.Row(at))
			for _, e := range slice.Edges {
				if int(e.A) == at {
					fmt.Fprintf(&out, "    edge to %d\n", slice.Nodes[e.B][0])
				}
			}
			for _, stub := range slice.Stubs {
				if int(stub.Owner) == at {
					fmt.Fprintf(&out, "    stub times %.4f\n", stub.Lambda)
				}
			}
		}
	}
	return out.String(), nil
}
