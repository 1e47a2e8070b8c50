package graph_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"lethe/partition/graph"
	"lethe/partition/graphtest"
)

// TestTranscripts knows
//
//	quotas shards=<v>       quotas per class
func TestTranscripts(t *testing.T) {
	graphtest.Transcripts(t, map[string]graphtest.Command{
		"quotas": func(t *testing.T, s *graphtest.Session, d *datadriven.TestData) (string, error) {
			q := graph.NewQuotas(s.Graph, graphtest.Shards(t, d))
			var out strings.Builder
			for class := range s.Graph.NumClasses() {
				fmt.Fprintf(&out, "class %d: %v\n", class, q.Of(uint8(class)))
			}
			return out.String(), nil
		},
	})
}
