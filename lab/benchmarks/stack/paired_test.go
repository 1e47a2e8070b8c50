package main

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"

	"lethe"
	"lethe/scoring/quality"
)

func TestIntervalsHoldTheDifference(t *testing.T) {
	draw := lethe.NewDraw(1, "test")
	var good, poor []float64
	var illicit []bool
	for i := range 400 {
		truth := i%4 == 0
		signal := 0.
		if truth {
			signal = 2
		}
		good, poor = append(good, signal+draw.Normal()), append(poor, signal/2+draw.Normal())
		illicit = append(illicit, truth)
	}
	gain := compare(quality.AUC, good, poor, illicit, 1)
	require.Equal(t, gain, compare(quality.AUC, good, poor, illicit, 1))
	require.Less(t, gain.Low, gain.Difference)
	require.Less(t, gain.Difference, gain.High)
	require.Positive(t, gain.Low)
	loss := compare(quality.AUC, poor, good, illicit, 1)
	require.InDelta(t, -gain.High, loss.Low, 1e-12)
	require.Equal(t, paired{}, compare(quality.AUC, good, good, illicit, 1))
}

func TestEnsemblesAreComparedWithTheFirst(t *testing.T) {
	c := small(generated(t))
	c.Components = append(c.Components, "trees:2:rounds=2")
	require.Nil(t, measuredWith(t, c, nil).Figures[6].Gains)
	c.Paired = true
	d := measuredWith(t, c, nil)
	for i, f := range d.Figures {
		require.Equal(t, i == 3 || i == 7, f.Gains != nil, f.Name)
	}
	require.InDelta(t, *d.Figures[3].AUC-*d.Figures[5].AUC, d.Figures[3].Gains.AUC.Difference, 1e-12)
	var table bytes.Buffer
	require.NoError(t, writeTables(&table, d))
	require.Contains(t, table.String(), "Gains on the first ensemble")
}
