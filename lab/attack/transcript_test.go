package attack

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
	"github.com/stretchr/testify/require"

	"lethe"
	"lethe/lab/attack/roc"
)

// numbers reads a line of numbers.
func numbers(t *testing.T, line string) []float64 {
	t.Helper()
	var out []float64
	for _, field := range strings.Fields(line) {
		v, err := strconv.ParseFloat(field, 64)
		require.NoError(t, err)
		out = append(out, v)
	}
	return out
}

func TestFeaturesTranscript(t *testing.T) {
	datadriven.RunTest(t, "testdata/features", func(t *testing.T, d *datadriven.TestData) string {
		lines := strings.Split(strings.TrimSpace(d.Input), "\n")
		before, after := numbers(t, lines[0]), numbers(t, lines[1])
		var out strings.Builder
		for _, f := range features() {
			fmt.Fprintf(&out, "%-18s %.3f\n", f.name, f.of(before, after))
		}
		return out.String()
	})
}

// Each line is a finding: adversary, scope, then area and standard error of
// control, result and, if there are six numbers, of records that were never held.
func TestVerdictsTranscript(t *testing.T) {
	datadriven.RunTest(t, "testdata/verdicts", func(t *testing.T, d *datadriven.TestData) string {
		r := &Report{}
		for line := range strings.Lines(d.Input) {
			adversary, rest, _ := strings.Cut(strings.TrimSpace(line), ":")
			scope, figures, _ := strings.Cut(strings.TrimSpace(rest), " ")
			n := numbers(t, figures)
			measured := func(i int) Measured {
				return Measured{estimate: roc.Estimate{AUC: n[i], StandardError: n[i+1]}}
			}
			f := Finding{Adversary: Adversary(adversary), Scope: lethe.Scope(scope), Control: measured(0), Result: measured(2)}
			if len(n) == 6 {
				never := measured(4)
				f.NeverHeld = &never
			}
			r.Findings = append(r.Findings, f)
		}
		r.conclude()
		var out strings.Builder
		for _, f := range r.Findings {
			fmt.Fprintf(&out, "control %s, after %s at %.4f: %s\n", f.Control.between(), f.Result.between(), f.Confidence,
				f.Verdict)
		}
		fmt.Fprintf(&out, "leaks at stubs: %t\n", r.LeaksAtStubs)
		return out.String()
	})
}
