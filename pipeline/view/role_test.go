package view_test

import (
	"bytes"
	"errors"
	"io/fs"
	"testing"

	"github.com/stretchr/testify/require"

	"lethe"
	"lethe/ingest"
	"lethe/ingest/bus"
	"lethe/internal/swapstore"
	"lethe/pipeline/view"
	"lethe/scoring"
)

// places are the files of the role that hold some bytes.
func (r *rig) places(what string) (out []string) {
	files := swapstore.Files(r.disk, "/view")
	require.NoError(r.t, fs.WalkDir(files, ".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		data, err := fs.ReadFile(files, path)
		if errors.Is(err, fs.ErrNotExist) {
			return nil // an open store deletes files that it needs no more beside everything else
		}
		if bytes.Contains(data, []byte(what)) {
			out = append(out, path)
		}
		return err
	}))
	return out
}

func timestepOf(t lethe.Timestep) *lethe.Timestep { return &t }

func TestPredictionsAreListedByScore(t *testing.T) {
	r := newRig(t)
	r.predicted(predictionOf("a", 1, .2), predictionOf("b", 1, .9), predictionOf("c", 2, .6), predictionOf("d", 2, .1))
	all := []string{"b 0.9", "c 0.6", "a 0.2", "d 0.1"}
	for _, limit := range []int{1, 2, 3, 4, 5} {
		require.Equal(t, all, r.list(view.Query{Limit: limit}), "%d a page", limit)
	}
	require.Equal(t, []string{"b 0.9", "c 0.6"}, r.list(view.Query{Alerts: true, Limit: 1}))
	require.Equal(t, []string{"c 0.6", "d 0.1"}, r.list(view.Query{Timestep: timestepOf(2), Limit: 1}))
	require.Equal(t, []string{"c 0.6"}, r.list(view.Query{Timestep: timestepOf(2), Alerts: true, Limit: 1}))
	require.Equal(t, []string{"b 0.9", "c 0.6"}, r.list(view.Query{Least: .6, Limit: 5}))
	page, _, err := r.reader.Predictions(view.Query{Most: .6, Limit: 1})
	require.NoError(t, err)
	require.Equal(t, lethe.TransactionID("c"), page[0].Transaction)
	_, _, err = r.reader.Predictions(view.Query{After: []byte("short"), Limit: 1})
	require.ErrorIs(t, err, view.ErrCursor)

	// A newer one takes the place of the one before, and what is withdrawn goes.
	provisional := predictionOf("e", 2, .7)
	provisional.Final = false
	r.predicted(provisional)
	require.Equal(t, []string{"c 0.6", "d 0.1", "e 0.7"}, sorted(r.list(view.Query{Timestep: timestepOf(2), Limit: 9})))
	r.predicted(predictionOf("e", 2, .3))
	r.write(bus.Predictions, ingest.Outgoing{Key: []byte("c")})
	require.Equal(t, []string{"b 0.9", "e 0.3", "a 0.2", "d 0.1"}, r.list(view.Query{Limit: 9}))
	step, err := r.reader.Step(2)
	require.NoError(t, err)
	require.Equal(t, view.Counts{Predictions: 2, Final: 2, Scores: scoresOf(.1, .3)}, step.Counts)

	// So it stays when the role is opened again.
	r.stop()
	r.start()
	r.settle()
	require.Equal(t, []string{"b 0.9", "e 0.3", "a 0.2", "d 0.1"}, r.list(view.Query{Limit: 9}))
	got, err := r.reader.Prediction(r.reader.RefOf("e"))
	require.NoError(t, err)
	require.Equal(t, predictionOf("e", 2, .3), got)
}

func TestJunkIsPassedOver(t *testing.T) {
	r := newRig(t)
	r.predicted(predictionOf("a", 1, .2))
	r.write(bus.Predictions, ingest.Outgoing{Key: []byte("b"), Value: []byte("{}")})
	r.write(bus.Reasons, ingest.Outgoing{Key: []byte("b"), Value: []byte("{")})
	r.write(bus.Predictions, ingest.Outgoing{Key: ingest.MarkerKey(0), Value: []byte("no prediction, and no junk")})
	require.Equal(t, []string{"a 0.2"}, r.list(view.Query{Limit: 9}))
}

// Quality is measured once all predictions of a timestep are there, and not with each batch of them; after a while it
// is measured without those that do not come, by a process that begins then, too.
func TestQualityWaitsForAllPredictions(t *testing.T) {
	r := newRig(t)
	all := ids(3, 3)
	labelled := func() (n int) {
		step, err := r.reader.Step(3)
		require.NoError(t, err)
		if step.Quality != nil {
			n = step.Quality.Labelled
		}
		return n
	}
	predict := func(i int) {
		value, err := scoring.EncodePrediction(predictionOf(all[i], 3, float64(i)*.3))
		require.NoError(t, err)
		record := ingest.Outgoing{Key: ingest.TransactionKey(all[i]), Value: value}
		require.NoError(t, r.topics.Write(t.Context(), bus.Predictions, []ingest.Outgoing{record}))
		r.read()
	}
	r.graph(3, 2, map[lethe.TransactionID]lethe.Label{
		all[0]: lethe.Licit, all[1]: lethe.Licit, all[2]: lethe.Illicit,
	}, all...)
	predict(0)
	predict(1)
	require.Zero(t, labelled(), "one is on its way")
	r.stop()
	r.start()
	r.read()
	require.Zero(t, labelled())
	r.settle()
	require.Equal(t, 2, labelled(), "it has not come for a while")
	predict(2)
	require.Equal(t, 3, labelled(), "no more can come")
}

func TestQualityFollowsTheLabels(t *testing.T) {
	r := newRig(t)
	all := ids(3, 4)
	for i, id := range all {
		r.predicted(predictionOf(id, 3, float64(i)*.3))
	}
	late := predictionOf("late", 3, 1)
	late.Late = true
	r.predicted(late)
	r.graph(3, 1, nil, append(all, "late")...)
	step, err := r.reader.Step(3)
	require.NoError(t, err)
	require.Nil(t, step.Quality, "no label is in")
	require.False(t, step.Settled)
	require.Equal(t, &view.Graph{Revision: 1, Previous: 2, Nodes: 5, Payments: 4}, step.Graph)

	r.graph(3, 2, map[lethe.TransactionID]lethe.Label{
		all[0]: lethe.Licit, all[2]: lethe.Licit, all[3]: lethe.Illicit, "late": lethe.Licit,
	}, append(all, "late")...)
	step, err = r.reader.Step(3)
	require.NoError(t, err)
	require.True(t, step.Settled)
	require.Equal(t, 3, step.Quality.Labelled)
	require.InDelta(t, 1, *step.Quality.AUC, 1e-12)
	require.InDelta(t, .5, step.Quality.Precision, 1e-12)
	require.Equal(t, []view.Bin{
		{From: 0, To: .1, Count: 1},
		{From: .6, To: .7, Count: 1, Mean: .6},
		{From: .9, To: 1, Count: 1, Mean: .8999999999999999, Illicit: 1},
	}, step.Quality.Bins)
	found, err := r.reader.Transaction(r.reader.RefOf(all[3]))
	require.NoError(t, err)
	require.Equal(t, "illicit", found.Label)
	require.Equal(t, 2, *found.Payments)

	steps, more, err := r.reader.Steps(9, 1)
	require.NoError(t, err)
	require.False(t, more)
	require.Equal(t, []*view.Step{step}, steps)
}

func TestNeighbourhoods(t *testing.T) {
	r := newRig(t)
	all := ids(1, 5)
	r.graph(1, 1, nil, all...)
	r.predicted(predictionOf(all[1], 1, .9))
	around, err := r.reader.Neighbourhood(r.reader.RefOf(all[2]), 1, 10)
	require.NoError(t, err)
	require.Len(t, around.Nodes, 3)
	require.Len(t, around.Payments, 2)
	require.False(t, around.Truncated)
	require.Equal(t, all[2], around.Nodes[0].ID)
	around, err = r.reader.Neighbourhood(r.reader.RefOf(all[2]), 3, 4)
	require.NoError(t, err)
	require.Len(t, around.Nodes, 4)
	require.True(t, around.Truncated)
	around, err = r.reader.Neighbourhood(r.reader.RefOf("nobody"), 1, 4)
	require.NoError(t, err)
	require.Nil(t, around)
}
