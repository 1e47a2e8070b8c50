package tables

import (
	"testing"

	"github.com/stretchr/testify/require"

	"lethe/trainer"
)

// Lines beyond a dozen cannot be told apart, and the best must be among them.
func TestPicturesOfTheFraudTableAreReadable(t *testing.T) {
	drawn := newStreamFigures("Bitcoin-OTC")
	names := make(map[string]bool)
	for _, e := range (Options{Splits: 1}).streamRows() {
		require.False(t, names[e.String()], "two rows are called %s", e)
		names[e.String()] = true
		drawn.add(e, nil)
	}
	for _, f := range []int{len(drawn.f1.Lines), len(drawn.auc.Lines), len(drawn.ownF1.Lines), len(drawn.ownAUC.Lines)} {
		require.LessOrEqual(t, f, 12)
		require.GreaterOrEqual(t, f, 7)
	}
	require.Contains(t, names, "Scratch, logistic + trees, directed, continual")
	var own []string
	for _, l := range drawn.ownAUC.Lines {
		own = append(own, l.Name)
	}
	require.Subset(t, own, []string{"lethe, logistic, directed, window", "lethe, logistic + trees, directed, continual",
		"Scratch, trees, static"})
}

// The shipped configuration for accuracy is a row, and so is a blend.
func TestFraudTableHasTheBestConfigurations(t *testing.T) {
	best, blends := 0, 0
	for _, e := range (Options{Splits: 1}).streamRows() {
		s := e.cell(Options{Splits: 1}, "Bitcoin-OTC", 0).Stream
		if !s.OneHopDirected {
			continue
		}
		require.True(t, s.OneHop)
		require.Equal(t, 1000, s.WindowTimesteps)
		switch s.Model {
		case trainer.Logistic:
			best++
		case trainer.Blend:
			blends++
			require.Equal(t, []string{trainer.Logistic, trainer.Trees}, s.Components)
		}
	}
	require.Equal(t, 2, best, "Scratch and lethe")
	require.Equal(t, 2, blends, "Scratch and lethe")
}
