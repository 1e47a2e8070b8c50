package refine

import (
	"testing"

	"github.com/cockroachdb/datadriven"
	"github.com/stretchr/testify/require"

	"lethe/partition/coarsen"
	"lethe/partition/graph"
	"lethe/partition/graphtest"
)

// TestTranscripts knows
//
//	refine shards=<v> [slack=]
//	                        refines the assignment given, shows before and after
//	even-out shards=<v>     makes the assignment given meet the quotas
func TestTranscripts(t *testing.T) {
	graphtest.Transcripts(t, map[string]graphtest.Command{
		"refine": refineCommand,
		"even-out": func(t *testing.T, s *graphtest.Session, d *datadriven.TestData) (string, error) {
			a, shards := graphtest.ReadAssignment(t, d.Input), graphtest.Shards(t, d)
			EvenOut(coarsen.Finest(s.Graph), a, graph.NewQuotas(s.Graph, shards))
			return s.Show(a, shards)
		},
	})
}

func refineCommand(t *testing.T, s *graphtest.Session, d *datadriven.TestData) (string, error) {
	a, c := graphtest.ReadAssignment(t, d.Input),
		Config{Shards: graphtest.Shards(t, d), Seed: graphtest.Seed(t, d), Sweeps: 20}
	d.MaybeScanArgs(t, "slack", &c.Slack)
	before, err := s.Show(a, c.Shards)
	if err != nil {
		return "", err
	}
	if _, err := Refine(t.Context(), coarsened(t, s.Graph, c), a, c); err != nil {
		return "", err
	}
	after, err := s.Show(a, c.Shards)
	return "before\n" + before + "after\n" + after, err
}

// coarsened is the hierarchy that a partition would refine on.
func coarsened(t testing.TB, g *graph.Graph, c Config) *coarsen.Hierarchy {
	h, err := coarsen.New(t.Context(), g, c.Shards, c.Seed)
	require.NoError(t, err)
	return h
}
