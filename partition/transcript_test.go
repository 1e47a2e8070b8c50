package partition

import (
	"fmt"
	"testing"

	"github.com/cockroachdb/datadriven"

	"lethe/partition/graphtest"
)

// TestTranscripts knows
//
//	run shards=<v> [method=] [sweeps=] [seed=] [no-refine]
func TestTranscripts(t *testing.T) {
	graphtest.Transcripts(t, map[string]graphtest.Command{"run": runCommand})
}

func runCommand(t *testing.T, s *graphtest.Session, d *datadriven.TestData) (string, error) {
	opts := readOptions(t, d)
	a, report, err := Run(t.Context(), s.Graph, opts)
	if err != nil {
		return "", err
	}
	out, err := s.Show(a, opts.Shards)
	return out + showCourse(report), err
}

// showCourse describes the iteration of methods that iterate.
func showCourse(r Report) string {
	if r.Iterations == 0 {
		return ""
	}
	out := fmt.Sprintf("  %d sweeps, converged %t\n", r.Iterations, r.Converged)
	if len(r.Objective) > 0 {
		out += fmt.Sprintf("  objective %.3f\n", r.Objective)
	}
	return out
}

func readOptions(t *testing.T, d *datadriven.TestData) Config {
	opts := DefaultsOf(methodArg(t, d))
	opts.Shards, opts.Seed, opts.Refine = graphtest.Shards(t, d), graphtest.Seed(t, d), !d.HasArg("no-refine")
	d.MaybeScanArgs(t, "sweeps", &opts.Sweeps)
	return opts
}

// methodArg returns the argument of that name, gpfb-fast without it.
func methodArg(t *testing.T, d *datadriven.TestData) string {
	name := MethodGPFBFast
	d.MaybeScanArgs(t, "method", &name)
	return name
}
