package scores_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"lethe/partition/graphtest"
)

// TestTranscripts knows
//
//	score shards=<v>        scores the assignment given
//	affected                own and stub-holding shards of every node
func TestTranscripts(t *testing.T) {
	graphtest.Transcripts(t, map[string]graphtest.Command{
		"score": func(t *testing.T, s *graphtest.Session, d *datadriven.TestData) (string, error) {
			return s.Show(graphtest.ReadAssignment(t, d.Input), graphtest.Shards(t, d))
		},
		"affected": func(t *testing.T, s *graphtest.Session, d *datadriven.TestData) (string, error) {
			a := graphtest.ReadAssignment(t, d.Input)
			var out strings.Builder
			for i := range a {
				fmt.Fprintf(&out, "node %d: %v\n", i, graphtest.Affected(s.Snapshot(), a, i))
			}
			return out.String(), nil
		},
	})
}
