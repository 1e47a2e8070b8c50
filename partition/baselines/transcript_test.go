package baselines

import (
	"fmt"
	"testing"

	"github.com/cockroachdb/datadriven"

	"lethe/partition/coarsen"
	"lethe/partition/internal/graphtest"
	"lethe/partition/method"
)

// TestTranscripts knows
//
//	propagate shards=<v> sweeps=<n>
//	                        label propagation from the assignment given
func TestTranscripts(t *testing.T) {
	graphtest.Transcripts(t, map[string]graphtest.Command{
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
