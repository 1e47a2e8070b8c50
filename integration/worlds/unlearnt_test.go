package worlds

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"lethe"
	"lethe/deletions"
	"lethe/ingest"
	"lethe/ingest/bus"
)

// TestABackupHoldsWhatIsStillToBeLearnt: a backup is made where a process was killed amid an erasure, after it has
// rewritten the graphs. Put back once the request was verified, it has the slices published and the models trained
// that the request would have, though the graphs hold nothing of the target any more, and the request in its place
// tells of no ensemble that has seen that.
func TestABackupHoldsWhatIsStillToBeLearnt(t *testing.T) {
	w := tell(t, 2)
	for at := lethe.Timestep(1); at <= w.last; at++ {
		w.settles(at)
	}
	w.asks(lethe.ScopeStubs, lethe.TransactionID(prefixOf(1)+"0"))
	w.events[len(w.events)-1].polls = 60
	for _, o := range []operation{{backup: true}, {pause: true}, {passes: true}, {pause: true}, {restore: true}} {
		w.events = append(w.events, event{operation: &o})
	}
	d, err := newDeployment(t).play(t.Context(), w.world)
	require.NoError(t, err)
	trace := d.disk.trace
	require.NoError(t, d.stop())
	at := 0
	behind := func(topic bus.Topic) {
		next := slices.IndexFunc(trace[at:], func(write string) bool {
			return strings.HasPrefix(write, "publish ") && strings.Contains(write, " to "+string(topic)+": ")
		})
		require.GreaterOrEqual(t, next, 0)
		at += next + 1
	}
	behind(bus.ErasureStatus)
	// Killed before that is written which is the first on these topics from there on.
	for _, topic := range []bus.Topic{bus.Snapshots, bus.Slices, bus.Control, bus.Models} {
		behind(topic)
		w.crashes = []crash{{at: int64(at)}}
		t.Run(string(topic), func(t *testing.T) { isLearntAgain(t, w.world) })
	}
}

// settles sends a timestep, whole.
func (w *told) settles(at lethe.Timestep) {
	for i := range 6 {
		id := lethe.TransactionID(fmt.Sprint(prefixOf(at), i))
		tx := lethe.Transaction{ID: id, Timestep: at, Features: []float32{float32(i) + .5, 2 + float32(at), 3}}
		w.sends(ingest.EncodeTransaction(tx))(id).row = tx.Features
		label := lethe.LabelRecord{ID: id, Timestep: at, Label: []lethe.Label{lethe.Licit, lethe.Illicit}[i%2]}
		w.sends(ingest.EncodeLabel(label))(id).topic = bus.Labels
	}
	w.ends(at)
}

// isLearntAgain plays a world in which a request is verified, and erased again once a backup was put back.
func isLearntAgain(t *testing.T, w world) {
	d, err := newDeployment(t).play(t.Context(), w)
	require.NoError(t, err)
	s, err := d.read(t.Context())
	require.NoError(t, err)
	again := 0
	for _, e := range s.ledger {
		require.Equal(t, deletions.Verified, e.State, e.RequestID)
		if isAgain(e.RequestID) {
			again++
			require.Equal(t, s.status.Ensemble.Version, s.receipts[e.RequestID].EnsembleAfter)
		}
	}
	require.Equal(t, 1, again)
	left, err := d.search(t.Context(), wantedOf(w))
	require.NoError(t, err)
	require.Empty(t, left)
	require.NoError(t, d.stop())
}
