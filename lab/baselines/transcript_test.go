package baselines

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
	"github.com/stretchr/testify/require"

	"lethe/partition/coarsen"
	"lethe/partition/graphtest"
	"lethe/partition/kmeans"
	"lethe/partition/method"
)

// TestTranscripts knows
//
//	run shards=<v> method=<name> [assign=] [sweeps=] [seed=] [no-refine]
//	                        input, if any, is the embedding: one row per node
//	propagate shards=<v> sweeps=<n>
//	                        label propagation from the assignment given
func TestTranscripts(t *testing.T) {
	graphtest.Transcripts(t, map[string]graphtest.Command{
		"run": func(t *testing.T, s *graphtest.Session, d *datadriven.TestData) (string, error) {
			name := MethodBLPA
			d.MaybeScanArgs(t, "method", &name)
			c := DefaultsOf(name)
			d.MaybeScanArgs(t, "assign", &c.Assign)
			d.MaybeScanArgs(t, "sweeps", &c.Sweeps)
			c.Embedding, c.Refine = readPoints(t, d.Input), !d.HasArg("no-refine")
			c.Shards, c.Seed = graphtest.Shards(t, d), graphtest.Seed(t, d)
			a, report, err := Run(t.Context(), s.Graph, c)
			if err != nil {
				return "", err
			}
			out, err := s.Show(a, c.Shards)
			if out += fmt.Sprintf("  %d sweeps, converged %t\n", report.Iterations, report.Converged); report.Objective != nil {
				out += fmt.Sprintf("  objective %.3f\n", report.Objective)
			}
			return out, err
		},
		"propagate": func(t *testing.T, s *graphtest.Session, d *datadriven.TestData) (string, error) {
			a, m := graphtest.ReadAssignment(t, d.Input), BLPA{}
			d.ScanArgs(t, "sweeps", &m.Sweeps)
			r := method.Request{Hierarchy: coarsen.Flat(s.Graph), Shards: graphtest.Shards(t, d), Seed: graphtest.Seed(t, d)}
			course, err := m.propagate(t.Context(), r, a)
			if err != nil {
				return "", err
			}
			out, err := s.Show(a, r.Shards)
			return out + fmt.Sprintf("  %d sweeps, converged %t\n", course.Iterations, course.Converged), err
		},
	})
}

// readPoints reads an embedding, nil for no input.
func readPoints(t *testing.T, input string) *kmeans.Points {
	if input == "" {
		return nil
	}
	e := &kmeans.Points{}
	for line := range strings.Lines(input) {
		words := strings.Fields(line)
		e.Columns = len(words)
		for _, word := range words {
			x, err := strconv.ParseFloat(word, 64)
			require.NoError(t, err)
			e.Values = append(e.Values, x)
		}
	}
	return e
}
