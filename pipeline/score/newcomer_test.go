package score

import (
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/stretchr/testify/require"

	"lethe"
	"lethe/deletions"
	"lethe/deletions/ledgercopy"
	"lethe/ingest/bus"
	"lethe/partition/onehop"
	"lethe/trainer"
)

// W135: a process that scores begins with an empty folder after an erasure, and producers send records of its targets
// again: it published provisional scores of them, and scores that depend on erased features.
func TestAProcessThatJoinsAfterAnErasureScoresNothingThatIsErased(t *testing.T) {
	const gone, redacted, cancelled, other = 0, 1, 2, 3
	var probabilities []float64
	for _, erases := range []bool{false, true} {
		a := newArriving(t, trainer.Logistic, onehop.None, nil)
		nodes := a.w.graphs[3].Nodes
		if erases {
			erased := append(lethe.Transactions(nodes[gone].ID), lethe.FeaturesOf(nodes[redacted].ID))
			a.copyEntry("gdpr-1", erased, deletions.Accepted, deletions.Suppressed, deletions.Rewriting)
			a.copyEntry("gdpr-2", lethe.Transactions(nodes[cancelled].ID), deletions.Accepted, deletions.Cancelled)
		}
		o := optionsFor(a.topics)
		o.Dir, o.FS, o.Scoring.Provisional, o.MaxTimestepJump = "/score", vfs.NewMem(), true, 1000
		l, err := open(t.Context(), o)
		require.NoError(t, err)
		a.window, a.current = l.arrivals.window, nil
		require.NoError(t, a.serve(a.by))
		require.NoError(t, a.close(t.Context(), a.w.graphs[2]))
		a.arrive(a.records(3)[:other+1]...)
		a.scoreWhatWaits()
		said := a.said()
		require.Equal(t, !erases, len(said[nodes[gone].ID]) > 0)
		require.NotEmpty(t, said[nodes[cancelled].ID])
		require.NotEmpty(t, said[nodes[other].ID])
		probabilities = append(probabilities, said[nodes[redacted].ID][0].Probability)
		require.NoError(t, l.Close())
	}
	require.NotEqual(t, probabilities[0], probabilities[1])
}

// copyEntry writes the copy of the entry of a request that was in some states.
func (a *arriving) copyEntry(id string, targets []lethe.Target, states ...deletions.State) {
	a.t.Helper()
	at := time.Unix(1_700_000_000, 0)
	e, err := deletions.NewEntry(secret, lethe.ErasureRequest{RequestID: id, Targets: targets}, at)
	require.NoError(a.t, err)
	for _, e.State = range states {
		e.History = append(e.History, deletions.Change{State: e.State, At: e.History[0].At})
	}
	records, err := ledgercopy.Records(e)
	require.NoError(a.t, err)
	require.NoError(a.t, a.topics.Write(a.t.Context(), bus.Control, records))
}
