package score

import (
	"errors"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"lethe"
	"lethe/ingest/bus"
	"lethe/partition/onehop"
	"lethe/pipeline/role/roletest"
	"lethe/pipeline/wire"
	"lethe/trainer"
)

// erasedHere publishes the erasure of a transaction of timestep 2 with two neighbours, as the other roles do; trained
// publishes the models that follow.
func erasedHere(t *testing.T, topics *roletest.Bus, w *scenario) (gone lethe.TransactionID, trained func()) {
	t.Helper()
	gone = w.erase(2, int(w.graphs[2].Payments[0].Source))
	records, err := w.command(wire.PhaseSearch, []lethe.TransactionID{gone}, 3, 2).Records()
	require.NoError(t, err)
	require.NoError(t, topics.Write(t.Context(), bus.Control, records))
	require.NoError(t, wire.Publish(t.Context(), topics, 1, w.graph(2), w.manifest(2)))
	return gone, func() {
		w.publishModels(t, topics, 2)
		w.publishModels(t, topics, 3)
	}
}

// requireMadeAgain requires that some reasons are of the ensemble of now, and the others stand.
func requireMadeAgain(t *testing.T, topics *roletest.Bus, w *scenario, gone lethe.TransactionID, count int) {
	t.Helper()
	require.Equal(t, 1, acks(t, topics)["erased"])
	published, there := reasonsIn(t, topics)
	require.Len(t, there, 2*nodes)
	require.Len(t, published, 2*nodes+count)
	for id, r := range there {
		if id != gone { // else the coordinator withdraws it
			require.NotContains(t, named(r), gone)
		}
		if r.Again {
			require.Equal(t, lethe.Timestep(2), r.Timestep)
			require.Equal(t, w.ensemble(3), r.EnsembleVersion)
		}
	}
}

// W147: a process that scores alone lost its folder, and with it which transactions have reasons: an erasure of
// features or of a payment left reasons that were made with them, and was verified.
func TestReasonsAreMadeAgainThoughTheFolderIsLost(t *testing.T) {
	for name, again := range map[string]int{"before the erasure": 2, "amid the erasure": nodes - 1} {
		t.Run(name, func(t *testing.T) {
			topics, w := topics(), wide(t, 3)
			o := alerting(topics, w)
			o.Dir = t.TempDir()
			_, stop := running(t, o)
			publish(t, topics, w, 1, 2, 3)
			idle(t, topics)
			stop()
			require.NoError(t, os.RemoveAll(o.Dir))

			var gone lethe.TransactionID
			var trained func()
			if again > 2 {
				gone, trained = erasedHere(t, topics, w)
				require.NoError(t, topics.Compact())
			}
			_, stop = running(t, o)
			idle(t, topics)
			if again == 2 {
				gone, trained = erasedHere(t, topics, w)
			}
			idle(t, topics)
			require.Zero(t, acks(t, topics)["erased"])
			trained()
			idle(t, topics)
			stop()
			requireMadeAgain(t, topics, w, gone, again)
		})
	}
}

// An alert without reasons when the folder was lost gets them.
func TestMissingReasonsAreMadeThoughTheFolderIsLost(t *testing.T) {
	topics, w := topics(), wide(t, 3)
	o := alerting(topics, w)
	o.Dir, o.ReasonsBeside = t.TempDir(), true
	l, err := open(t.Context(), o)
	require.NoError(t, err)
	f, err := follow(t.Context(), l)
	require.NoError(t, err)
	publish(t, topics, w, 1, 2, 3)
	s, err := roletest.Begin(t.Context(), f)
	require.NoError(t, err)
	for more := true; more; {
		more, err = s.Poll(t.Context())
		require.NoError(t, err)
	}
	require.NoError(t, errors.Join(s.Close(), f.Close()))
	require.Len(t, predictions(t, topics), 2*nodes)
	require.Empty(t, reasonsNow(t, topics))

	require.NoError(t, os.RemoveAll(o.Dir))
	o.ReasonsBeside = false
	_, stop := running(t, o)
	idle(t, topics)
	stop()
	require.Len(t, reasonsNow(t, topics), 2*nodes)
	require.Len(t, predictions(t, topics), 2*nodes)
}

// The same of a process that has passed over a timestep, and leads.
func TestWhoPassedOverMakesReasonsAgain(t *testing.T) {
	topics, w := topics(), wide(t, 3)
	one := newProcess(t, "one", alerting(topics, w))
	one.leads()
	for at := lethe.Timestep(1); at <= 3; at++ {
		publish(t, topics, w, at)
		one.reads()
	}
	for shard := range lethe.ShardID(shards) {
		key := wire.Key{Kind: wire.KindModel, Timestep: 1, Shard: shard}
		require.NoError(t, wire.Publish(t.Context(), topics, 2, wire.Message{Key: key, Deleted: true}))
	}
	one.reads()
	require.NoError(t, topics.Compact())
	two := newProcess(t, "two", alerting(topics, w))
	two.leads()
	gone, trained := erasedHere(t, topics, w)
	trained()
	two.reads()
	requireMadeAgain(t, topics, w, gone, nodes-1)
}

// W148: a process that scores alone lost its folder, and read the graph of a timestep, which was replaced, after those
// of later ones: it took the timestep's transactions for rejected ones, and withdrew their final predictions.
func TestNoFinalPredictionIsWithdrawnThoughTheFolderIsLost(t *testing.T) {
	a := newArriving(t, trainer.Logistic, onehop.None, nil)
	o := optionsFor(a.topics)
	o.Dir, o.MaxTimestepJump = t.TempDir(), 1000
	_, stop := running(t, o)
	publish(t, a.topics, a.w, 1, 2, 3)
	idle(t, a.topics)
	stop()
	a.w.erase(2, 0)
	require.NoError(t, wire.Publish(t.Context(), a.topics, 1, a.w.graph(2), a.w.manifest(2)))
	require.NoError(t, a.topics.Compact())
	require.NoError(t, os.RemoveAll(o.Dir))

	o.Scoring.Provisional = true
	l, err := open(t.Context(), o)
	require.NoError(t, err)
	f, err := follow(t.Context(), l)
	require.NoError(t, err)
	a.arrivals = l.arrivals // which have read the transactions before the graphs are read
	a.arrive(append(a.records(2), a.records(3)...)...)
	s, err := roletest.Begin(t.Context(), f)
	require.NoError(t, err)
	for more := true; more; {
		more, err = s.Poll(t.Context())
		require.NoError(t, err)
	}
	require.NoError(t, s.Close())
	require.NoError(t, f.Close())
	there := make(map[string]bool)
	for _, rec := range roletest.Records(t, a.topics, bus.Predictions) {
		there[string(rec.Key)] = !rec.Tombstone()
		require.False(t, rec.Tombstone())
	}
	require.Len(t, there, 2*nodes)
}
