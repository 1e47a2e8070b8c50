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
	var timesteps []lethe.Timestep
	for i := range 400 {
		truth := i%4 == 0
		signal := 0.
		if truth {
			signal = 2
		}
		good, poor = append(good, signal+draw.Normal()), append(poor, signal/2+draw.Normal())
		illicit, timesteps = append(illicit, truth), append(timesteps, lethe.Timestep(i/40))
	}
	auc := func(scores, with []float64) paired {
		return comparison{quality.AUC, scores, with, illicit, timesteps}.compare(1)
	}
	gain := auc(good, poor)
	require.Equal(t, gain, auc(good, poor))
	require.Less(t, gain.Low, gain.Difference)
	require.Less(t, gain.Difference, gain.High)
	require.Positive(t, gain.Low)
	require.Positive(t, gain.TimestepsLow)
	loss := auc(poor, good)
	require.InDelta(t, -gain.High, loss.Low, 1e-12)
	require.InDelta(t, -gain.TimestepsHigh, loss.TimestepsLow, 1e-12)
	require.Equal(t, paired{}, auc(good, good))
}

// A score that is better in one timestep of ten alone may be so by chance, however many rows it has.
func TestTimestepsErrAsAWhole(t *testing.T) {
	draw := lethe.NewDraw(1, "test")
	c := comparison{by: quality.AUC}
	for i := range 4000 {
		truth, timestep := i%4 == 0, lethe.Timestep(i/400)
		signal := draw.Normal()
		if truth {
			signal++
		}
		other := signal
		if timestep == 3 {
			other = draw.Normal()
		}
		c.scores, c.with = append(c.scores, signal), append(c.with, other)
		c.illicit, c.timesteps = append(c.illicit, truth), append(c.timesteps, timestep)
	}
	gain := c.compare(1)
	require.Positive(t, gain.Low)
	require.Zero(t, gain.TimestepsLow)
	require.Greater(t, gain.TimestepsHigh, gain.High)
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
