package main

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// The alerts of the timesteps add up to the figures of the budget, and are printed and
// drawn for what has several components.
func TestAlertsThroughTime(t *testing.T) {
	d := measured(t, generated(t), nil)
	for _, f := range d.Figures {
		alerts, illicit, right := 0, 0, 0.0
		for _, a := range f.Alerts {
			require.LessOrEqual(t, a.Alerts, d.Budget)
			require.InDelta(t, a.Right/float64(a.Alerts), a.Precision, 1e-12)
			alerts, illicit, right = alerts+a.Alerts, illicit+a.Illicit, right+a.Right
		}
		require.Positive(t, right)
		require.InDelta(t, f.BudgetPrecision, right/float64(alerts), 1e-12)
		require.InDelta(t, f.BudgetRecall, right/float64(illicit), 1e-12)
	}
	var out strings.Builder
	require.NoError(t, writeAlerts(&out, d))
	require.Len(t, d.stacks(), 2)
	require.Contains(t, out.String(), "10 alerts a timestep")
	require.Equal(t, 6, strings.Count(out.String(), "| 10 |"), out.String())

	figure := filepath.Join(t.TempDir(), "alerts.svg")
	require.NoError(t, drawAlerts(figure, d))
	require.FileExists(t, figure)
	d.Figures = d.Figures[:1]
	require.ErrorContains(t, drawAlerts(figure, d), "no ensemble has several components")
}
