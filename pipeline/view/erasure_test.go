package view_test

import (
	"io/fs"
	"testing"

	"github.com/stretchr/testify/require"

	"lethe"
	"lethe/deletions"
	"lethe/ingest"
	"lethe/ingest/bus"
	"lethe/pipeline/view"
	"lethe/pipeline/wire"
)

// What a command names is told to nobody from the first command on, and after the last one no
// byte of it is in any file, though others are made to name it meanwhile.
func TestAnErasureLeavesNoByte(t *testing.T) {
	r := newRig(t)
	all := ids(1, 4)
	gone, other := all[1], all[2]
	for i, id := range all {
		r.predicted(predictionOf(id, 1, .6+float64(i)/10))
	}
	r.graph(1, 1, map[lethe.TransactionID]lethe.Label{gone: lethe.Illicit, other: lethe.Licit}, all...)
	r.explained(gone, 1, all[0])
	r.explained(other, 1, gone, all[3])
	require.True(t, r.holds(string(gone)))

	r.command(wire.PhaseSuppress, 0, nil, gone)
	require.Equal(t, map[string]int{"suppressed 0": 0}, r.acknowledged())
	require.NotContains(t, r.list(view.Query{Limit: 2}), string(gone)+" 0.7")
	require.Len(t, r.list(view.Query{Limit: 2}), 3)
	found, err := r.reader.Transaction(r.reader.RefOf(gone))
	require.NoError(t, err)
	require.Nil(t, found)
	why, err := r.reader.Reasons(r.reader.RefOf(other))
	require.NoError(t, err)
	require.Len(t, why.Components[0].Reasons, 1, "who is suppressed is named by nobody")
	around, err := r.reader.Neighbourhood(r.reader.RefOf(other), 1, 9)
	require.NoError(t, err)
	require.Len(t, around.Nodes, 2)

	step := []wire.CommandStep{{Timestep: 1, Revision: 2, Settled: true}}
	r.command(wire.PhasePurge, 0, step, gone)
	require.NotContains(t, r.acknowledged(), "erased 0", "the graph has not come")
	// Who is behind sends it again; it is not stored.
	r.predicted(predictionOf(gone, 1, .7))
	r.explained(other, 1, gone)
	r.graph(1, 2, map[lethe.TransactionID]lethe.Label{other: lethe.Licit}, all[0], other, all[3])
	r.reached(deletions.Retraining)
	require.NotContains(t, r.acknowledged(), "erased 0", "predictions of new models have not come")
	r.reached(deletions.Swapped)
	require.Contains(t, r.acknowledged(), "erased 0")
	require.Equal(t, 0, r.acknowledged()["erased 0"])
	require.Empty(t, r.places(string(gone)))
	r.explained(other, 1, all[3])

	r.command(wire.PhaseSearch, 0, step, gone)
	require.Contains(t, r.acknowledged(), "scanned 0")
	pseudonym := secret.Pseudonym(gone)
	require.Empty(t, r.places(string(gone)))
	require.Empty(t, r.places(string(pseudonym[:])))
	require.Len(t, r.list(view.Query{Limit: 2}), 3)
	r.stop()
	require.Empty(t, r.places(string(gone)))
	content, err := view.ReadContent(r.disk, "/view", secret, []lethe.Digest{secret.Suppression(gone)})
	require.NoError(t, err)
	require.Empty(t, content.Problems)
	require.Equal(t, 3, content.Predictions)

	// It does not come back when the role is opened again.
	r.start()
	r.write(bus.Control, wire.CommandTombstone("gdpr-1"))
	r.predicted(predictionOf(gone, 1, .7))
	require.Empty(t, r.places(string(gone)))
}

// A request that is taken back before anything was rewritten leaves all as it was.
func TestWhatIsTakenBackIsToldAgain(t *testing.T) {
	r := newRig(t)
	r.predicted(predictionOf("first", 1, .6), predictionOf("second", 1, .7))
	r.command(wire.PhaseSuppress, 0, nil, "first")
	require.Equal(t, []string{"second 0.7"}, r.list(view.Query{Limit: 9}))
	r.command(wire.PhaseLift, 0, nil, "first")
	require.Contains(t, r.acknowledged(), "lifted 0")
	require.Equal(t, []string{"second 0.7", "first 0.6"}, r.list(view.Query{Limit: 9}))

	// The request was done with, and the deletion of its command was compacted away. Whoever leads now commands it again.
	for _, again := range []struct {
		phase  wire.Phase
		answer string
	}{{wire.PhaseLift, "lifted 0"}, {wire.PhaseSuppress, "suppressed 0"}} {
		before := r.answers()
		r.command(again.phase, 0, nil, "first")
		given := r.answers()[len(before):]
		require.Len(t, given, 1)
		require.Equal(t, again.answer, stepOf(given[0]))
	}
}

// A timestep that an erasure empties goes, though its deletion may have been cleaned away.
func TestATimestepThatIsGone(t *testing.T) {
	r := newRig(t)
	r.graph(4, 1, map[lethe.TransactionID]lethe.Label{"only-one-there": lethe.Illicit}, "only-one-there")
	steps := []wire.CommandStep{{Timestep: 4, Revision: 1, Settled: true, Gone: true}}
	r.command(wire.PhasePurge, 0, steps, "only-one-there")
	r.reached(deletions.Swapped)
	require.Contains(t, r.acknowledged(), "erased 0")
	step, err := r.reader.Step(4)
	require.NoError(t, err)
	require.Nil(t, step)
	// What was on its way is passed over.
	r.graph(4, 1, map[lethe.TransactionID]lethe.Label{"only-one-there": lethe.Illicit}, "only-one-there")
	require.Empty(t, r.places("only-one-there"))
}

// Before the role says that it has searched everything, it has read what the topics held when it
// was asked.
func TestASearchOfEverythingWaitsForWhatIsThere(t *testing.T) {
	r := newRig(t)
	r.command(wire.PhasePurge, 0, nil, "nobody-knows-it")
	r.reached(deletions.Swapped)
	require.Contains(t, r.acknowledged(), "erased 0")
	for _, p := range []float64{.1, .2} {
		p := predictionOf(lethe.TransactionID("other"), 1, p)
		value := encoded(t, p)
		records := []ingest.Outgoing{{Key: []byte("other"), Value: value}}
		require.NoError(t, r.topics.Write(t.Context(), bus.Predictions, records))
	}
	r.command(wire.PhaseSearch, 0, nil, "nobody-knows-it")
	require.Contains(t, r.acknowledged(), "scanned 0")
	require.Equal(t, []string{"other 0.2"}, r.list(view.Query{Limit: 9}))
}

// Of a batch, the request that leads may end before the others: they are carried out under its name
// all the same.
func TestABatchGoesOnWithoutTheRequestThatLeads(t *testing.T) {
	for _, state := range []deletions.State{deletions.Rejected, deletions.Failed} {
		r := newRig(t)
		r.reached(deletions.Swapped)
		r.reached(state)
		r.command(wire.PhasePurge, 0, nil, "nobody-knows-it")
		require.NotContains(t, r.acknowledged(), "erased 0", "nobody has said that new models are served")
		r.command(wire.PhaseSearch, 0, nil, "nobody-knows-it")
		require.Contains(t, r.acknowledged(), "erased 0")
		require.Contains(t, r.acknowledged(), "scanned 0")
	}
}

func TestDamageIsFound(t *testing.T) {
	r := newRig(t)
	r.predicted(predictionOf("kept", 1, .6))
	r.stop()
	content, err := view.ReadContent(r.disk, "/view", secret, []lethe.Digest{secret.Suppression("kept")})
	require.NoError(t, err)
	require.Equal(t, []string{"the view holds 1 predictions of erased transactions"}, content.Problems)
	_, err = view.ReadContent(r.disk, "/elsewhere", secret, nil)
	require.ErrorIs(t, err, fs.ErrNotExist)
}
