package view_test

import (
	"fmt"
	"math"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"lethe"
	"lethe/deletions/translog"
	"lethe/ingest"
	"lethe/ingest/bus"
	"lethe/pipeline/view"
	"lethe/pipeline/wire"
	"lethe/scoring/quality"
)

func scoresOf(list ...float64) (out quality.ScoreCounts) {
	for _, s := range list {
		out.Add(s, 1)
	}
	return out
}

// The scores of each timestep are compared with those of all before it. What is provisional, late or erased
// does not count.
func TestScoresDrift(t *testing.T) {
	r := newRig(t)
	open, late := predictionOf("x", 2, .9), predictionOf("y", 2, .9)
	open.Final, late.Late = false, true
	r.predicted(predictionOf("a", 1, .1), predictionOf("b", 1, .12), predictionOf("c", 2, .9), predictionOf("d", 3, .1),
		open, late)
	drifts := func() (out []float64) {
		steps, _, err := r.reader.Steps(9, 9)
		require.NoError(t, err)
		for _, s := range steps {
			one, err := r.reader.Step(s.Timestep)
			require.NoError(t, err)
			require.Equal(t, s, one)
			if s.Drift != nil {
				out = append(out, *s.Drift)
				continue
			}
			out = append(out, math.NaN())
		}
		return out
	}
	drift := func(now, before quality.ScoreCounts) float64 { return now.Drift(before) }
	want := []float64{drift(scoresOf(.1), scoresOf(.1, .12, .9)), drift(scoresOf(.9), scoresOf(.1, .12))}
	got := drifts()
	require.InDeltaSlice(t, want, got[:2], 1e-12)
	require.True(t, math.IsNaN(got[2]), "there is nothing before the first")

	r.command(wire.PhaseSuppress, 0, nil, "b")
	r.command(wire.PhasePurge, 0, nil, "b")
	require.InDelta(t, drift(scoresOf(.9), scoresOf(.1)), drifts()[1], 1e-12)
}

// How long models took to learn is told by when the log got them, unless slices came later.
func TestWhenModelsLearnt(t *testing.T) {
	r := newRig(t)
	labels := map[lethe.TransactionID]lethe.Label{"a": lethe.Illicit, "b": lethe.Licit}
	r.graph(1, 1, labels, "a", "b")
	r.sliceOf(1, 0, 1, labels, "a")
	r.topics.Pass(time.Second)
	r.sliceOf(1, 1, 1, labels, "b")
	leaf := 0
	logged := func(group int, at lethe.Timestep, replaces byte) {
		leaf++
		c := translog.Checkpoint{Group: group, Timestep: at, Digest: lethe.Digest{byte(leaf)}}
		if replaces != 0 {
			c.Replaces = lethe.Digest{replaces}
		}
		text, err := translog.Encode(c)
		require.NoError(t, err)
		r.write(bus.Log, ingest.Outgoing{Key: fmt.Appendf(nil, "%016d", leaf-1), Value: text})
	}
	r.topics.Pass(2 * time.Second)
	logged(0, 1, 0)
	r.topics.Pass(500 * time.Millisecond)
	logged(1, 1, 0)
	ensemble := func() view.Ensemble {
		list, _, err := r.reader.Ensembles(9, 9)
		require.NoError(t, err)
		require.Len(t, list, 1)
		return list[0]
	}
	at, after := func(seconds int64) *time.Time { out := time.Unix(seconds, 5e8).UTC(); return &out }, 2.5
	require.Equal(t, view.Ensemble{Through: 1, Models: 2, Trained: 2, Learnt: at(3), AfterSeconds: &after}, ensemble())

	r.topics.Pass(time.Second)
	logged(1, 1, 2)
	again := view.Ensemble{Through: 1, Models: 2, Trained: 2, Replaced: 1, Learnt: at(4), AfterSeconds: &after}
	require.Equal(t, again, ensemble(), "what is trained anew is no measure of the first time")

	again.AfterSeconds = nil
	r.sliceOf(1, 1, 2, labels, "b")
	require.Equal(t, again, ensemble(), "the slices of then are gone")
}

// A graph is taken once the predictions that are made in the same process are out.
func TestGraphsGiveWay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		end, taken := r.first.Begin(), make(chan struct{})
		go func() {
			defer close(taken)
			r.graph(1, 1, nil, "a", "b")
		}()
		synctest.Wait()
		select {
		case <-taken:
			require.Fail(t, "it was taken at once")
		default:
		}
		end()
		<-taken
		r.stop()
	})
}
