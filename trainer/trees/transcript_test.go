package trees

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
	"github.com/stretchr/testify/require"

	"lethe/trainer/tabular"
)

// Splits as a transcript: rows are "features : class [* weight]", one a line.
func TestSplits(t *testing.T) {
	datadriven.RunTest(t, "testdata/splits", func(t *testing.T, d *datadriven.TestData) string {
		rows := parseRows(t, d.Input)
		opts := with(func(c *Config) { c.Rounds, c.LearningRate, c.MinChildRows = 1, 1, 1 })
		for _, whole := range []struct {
			name string
			into *int
		}{
			{"classes", &opts.Classes}, {"rounds", &opts.Rounds}, {"leaves", &opts.MaxLeaves},
			{"child-rows", &opts.MinChildRows}, {"bins", &opts.MaxBins},
		} {
			d.MaybeScanArgs(t, whole.name, whole.into)
		}
		for _, number := range []struct {
			name string
			into *float64
		}{
			{"rate", &opts.LearningRate}, {"l2", &opts.L2}, {"child-weight", &opts.MinChildWeight},
		} {
			var text string
			if d.MaybeScanArgs(t, number.name, &text) {
				v, err := strconv.ParseFloat(text, 64)
				require.NoError(t, err)
				*number.into = v
			}
		}
		m, report, err := Fit(t.Context(), rows, opts)
		if err != nil {
			return err.Error() + "\n"
		}
		return describe(m) + fmt.Sprintf("loss %.4f to %.4f\n", report.FirstLoss, report.FinalLoss)
	})
}

func parseRows(t *testing.T, input string) tabular.Rows {
	var r tabular.Rows
	for line := range strings.Lines(strings.TrimSpace(input)) {
		features, label, found := strings.Cut(line, ":")
		require.True(t, found, line)
		label, weight, weighted := strings.Cut(label, "*")
		for _, text := range strings.Fields(features) {
			v, err := strconv.ParseFloat(text, 32)
			require.NoError(t, err)
			r.Features = append(r.Features, float32(v))
		}
		class, err := strconv.Atoi(strings.TrimSpace(label))
		require.NoError(t, err)
		r.Labels = append(r.Labels, int32(class))
		r.Cols = len(r.Features) / len(r.Labels)
		if weighted {
			w, err := strconv.ParseFloat(strings.TrimSpace(weight), 32)
			require.NoError(t, err)
			r.Weights = append(r.Weights, float32(w))
		}
	}
	return r
}

// describe prints every tree, indented by depth.
func describe(m *Model) string {
	var b strings.Builder
	fmt.Fprintf(&b, "base %.4f\n", m.base)
	for i, t := range m.trees {
		fmt.Fprintf(&b, "tree %d\n", i)
		var print func(at uint32, indent string)
		print = func(at uint32, indent string) {
			n := t[at]
			if n.feature == leaf {
				fmt.Fprintf(&b, "%s%+.4f\n", indent, n.value)
				return
			}
			missing := ""
			if n.missingLeft != (n.value >= 0) {
				missing = fmt.Sprintf(", missing left %t", n.missingLeft)
			}
			fmt.Fprintf(&b, "%sfeature %d <= %g%s\n", indent, n.feature, n.value, missing)
			print(at+1, indent+"  ")
			fmt.Fprintf(&b, "%selse\n", indent)
			print(n.right, indent+"  ")
		}
		print(0, "  ")
	}
	return b.String()
}
