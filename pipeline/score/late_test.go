package score

import (
	"testing"

	"github.com/stretchr/testify/require"

	"lethe"
	"lethe/pipeline/wire"
)

// A transaction that came late was scored by models that may know what came after it: its
// prediction says so, and counts in no figure of quality, though its label is there.
func TestLatePredictionsCountInNoQuality(t *testing.T) {
	topics, w := topics(), newScenario(t, 3)
	o := optionsFor(topics)
	o.Dir = t.TempDir()
	r, stop := running(t, o)
	publish(t, topics, w, 1, 2, 3)
	idle(t, topics)
	before := r.Status().Steps[2]
	require.NotNil(t, before.Quality)
	require.Equal(t, 4, before.Quality.Labelled)

	w.join(2)
	for at := lethe.Timestep(2); at <= 3; at++ {
		w.publishModels(t, topics, at)
	}
	require.NoError(t, wire.Publish(t.Context(), topics, 1, w.graph(2), w.manifest(2)))
	idle(t, topics)
	after := r.Status().Steps[2]
	require.Equal(t, before.Predictions+1, after.Predictions)
	require.Equal(t, before.Quality, after.Quality)
	late := 0
	for _, p := range predictions(t, topics) {
		if p.Transaction == "late-2" {
			require.True(t, p.Late)
			late++
		}
	}
	require.Equal(t, 1, late)
	stop()

	// Counted from what is stored, it comes to the same.
	r, stop = running(t, o)
	idle(t, topics)
	require.Equal(t, before.Quality, r.Status().Steps[2].Quality)
	stop()
}

// The first timestep stays unscored, whether it was there all along or comes late, and so
// does what joins it: else it would depend on an erased transaction which of its others are
// predicted. One that became the first when another was emptied is no exception.
func TestWhatJoinsTheFirstTimestepStaysUnscored(t *testing.T) {
	for name, joins := range map[string]func(w *scenario) (first lethe.Timestep){
		"there all along": func(w *scenario) lethe.Timestep {
			w.join(1)
			return 1
		},
		"inserted": func(w *scenario) lethe.Timestep {
			w.insert()
			return 1
		},
		"the first by now": func(w *scenario) lethe.Timestep {
			w.remove(1)
			w.join(2)
			return 2
		},
	} {
		topics, w := topics(), newScenario(t, 4)
		if name == "inserted" {
			w.remove(1)
		}
		o := optionsFor(topics)
		o.Dir = t.TempDir()
		r, stop := running(t, o)
		for at := range w.graphs {
			publish(t, topics, w, at)
		}
		idle(t, topics)
		before := r.Status()
		require.NotNil(t, before.Ensemble, name)
		first := joins(w)
		require.NoError(t, wire.Publish(t.Context(), topics, 1, w.graph(first)))
		idle(t, topics)
		require.Equal(t, before.Steps[first].Predictions, r.Status().Steps[first].Predictions, name)
		stop()
	}
}
