package score

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lethe"
	"lethe/internal/swapstore"
	"lethe/pipeline/journal"
	"lethe/pipeline/wire"
	"lethe/scoring"
)

// Stores of processes that have done the same entries hold the same, whatever order they read topics in, and whichever
// of them leads: predictions, late ones and reasons, over an erasure.
func TestStoresAtTheSamePlaceAreEqual(t *testing.T) {
	topics, w := topics(), wide(t, 4)
	one, two := newProcess(t, "one", alerting(topics, w)), newProcess(t, "two", alerting(topics, w))
	alike := func() {
		t.Helper()
		one.reads()
		two.reads()
		one.reads()
		two.reads()
		require.Equal(t, one.digests(), two.digests())
	}
	one.leads()
	for at := lethe.Timestep(1); at <= 3; at++ {
		publish(t, topics, w, at)
		alike()
	}
	w.join(2)
	require.NoError(t, wire.Publish(t.Context(), topics, 1, w.graph(2)))
	publish(t, topics, w, 4)
	alike()
	gone := []lethe.TransactionID{w.erase(3, 0)}
	commanded(t, topics, w.command(wire.PhaseSuppress, gone, 4))
	alike()
	require.NoError(t, wire.Publish(t.Context(), topics, 1, w.graph(3), w.manifest(2), w.manifest(3), w.manifest(4)))
	commanded(t, topics, w.command(wire.PhasePurge, gone, 4, 3))
	for at := lethe.Timestep(2); at <= 4; at++ {
		w.publishModels(t, topics, at)
	}
	alike()
	require.Equal(t, map[string]int{"suppressed": 2, "swapped": 2, "erased": 2}, acks(t, topics))
	two.leads()
	one.begin(0)
	w.join(4)
	require.NoError(t, wire.Publish(t.Context(), topics, 1, w.graph(4), w.manifest(4)))
	w.publishModels(t, topics, 4)
	alike()
}

// Whoever takes over publishes again what the one before may not have: the same bytes under the same keys, though the
// graph has changed since. Nothing else is published twice.
func TestWhatWasSentIsNotPredictedOtherwise(t *testing.T) {
	for name, sent := range map[string]int{"nothing": 0, "a part": 2, "everything": nodes} {
		t.Run(name, func(t *testing.T) {
			topics, w := topics(), newScenario(t, 3)
			o := optionsFor(topics)
			o.Bus = cutOff{topics, sent}
			one, two := newProcess(t, "one", o), newProcess(t, "two", optionsFor(topics))
			one.leads()
			publish(t, topics, w, 1, 2)
			one.isPulled()
			require.Len(t, predictions(t, topics), sent)

			gone := w.erase(2, 0)
			require.NoError(t, wire.Publish(t.Context(), topics, 1, w.graph(2), w.manifest(2)))
			two.leads()
			w.publishModels(t, topics, 2)
			publish(t, topics, w, 3)
			two.reads()
			said := make(map[lethe.TransactionID]string)
			for _, p := range predictions(t, topics) {
				before, again := said[p.Transaction]
				require.True(t, !again || before == p.ID, "another prediction of %s", p.Transaction)
				said[p.Transaction] = p.ID
			}
			require.Len(t, said, 2*nodes)
			require.Contains(t, said, gone, "those who erase withdraw it")
		})
	}
}

// What the leader has predicted before it came to a request counts as predicted in a process that comes to the request
// first, and that takes over: else it would be predicted again, as one that came late, if the request is taken back.
func TestAStandbyCountsWhatIsSuppressedAsPredicted(t *testing.T) {
	topics, w := topics(), newScenario(t, 3)
	one, two := newProcess(t, "one", optionsFor(topics)), newProcess(t, "two", optionsFor(topics))
	one.leads()
	publish(t, topics, w, 1)
	require.NoError(t, wire.Publish(t.Context(), topics, 1, w.graph(2)))
	one.reads()
	require.Len(t, predictions(t, topics), nodes)
	gone := []lethe.TransactionID{w.graphs[2].Nodes[1].ID}
	commanded(t, topics, w.command(wire.PhaseSuppress, gone, 3))
	two.leads()
	require.Len(t, predictions(t, topics), nodes)
	commanded(t, topics, w.command(wire.PhaseLift, gone, 3))
	w.join(2)
	require.NoError(t, wire.Publish(t.Context(), topics, 1, w.graph(2)))
	two.reads()
	all := predictions(t, topics)
	require.Len(t, all, nodes+1)
	require.True(t, slices.ContainsFunc(all, func(p *scoring.Prediction) bool { return p.Late }))
}

// A process that stands by scores nothing that the leader has not, whatever models it finds.
func TestAStandbyScoresNothingAheadOfTheLeader(t *testing.T) {
	topics, w := topics(), newScenario(t, 3)
	one, two := newProcess(t, "one", optionsFor(topics)), newProcess(t, "two", optionsFor(topics))
	one.leads()
	publish(t, topics, w, 1)
	one.reads()
	two.reads()
	publish(t, topics, w, 2)
	one.reads()
	publish(t, topics, w, 3)
	two.reads()
	require.NotContains(t, two.logic.state.links, lethe.Timestep(3))
	one.reads()
	two.reads()
	require.Equal(t, 2*nodes, two.logic.Status().Predictions())
}

// W134: a timestep comes when its successors are scored. The leader scores it, and so does a standby: it passed over
// it, because the journal had everything up to the newest timestep as scored, and had no reasons to make as a leader.
func TestAStandbyScoresATimestepBetweenScoredOnes(t *testing.T) {
	topics, w := topics(), wide(t, 4)
	one, two := newProcess(t, "one", alerting(topics, w)), newProcess(t, "two", alerting(topics, w))
	one.leads()
	w.remove(2)
	for _, at := range []lethe.Timestep{1, 3, 4} {
		publish(t, topics, w, at)
		one.reads()
		two.reads()
	}
	w.insert()
	require.NoError(t, wire.Publish(t.Context(), topics, 1, w.graph(2), w.graph(3)))
	one.reads()
	two.reads()
	require.Len(t, predictions(t, topics), 3*nodes)
	require.Equal(t, one.digests(), two.digests())
}

// A process was away, and models are gone that the leader needs no more. It passes over what the leader has scored, and
// waits for what that waits for.
func TestAStandbyPassesOverWhatItCannotScore(t *testing.T) {
	topics, w := topics(), newScenario(t, 4)
	one := newProcess(t, "one", optionsFor(topics))
	one.leads()
	for at := lethe.Timestep(1); at <= 3; at++ {
		publish(t, topics, w, at)
		one.reads()
	}
	require.NoError(t, wire.Publish(t.Context(), topics, 1, w.graph(4)))
	one.reads()
	require.Len(t, predictions(t, topics), 3*nodes)
	for at := lethe.Timestep(1); at <= 2; at++ {
		for shard := range lethe.ShardID(shards) {
			key := wire.Key{Kind: wire.KindModel, Timestep: at, Shard: shard}
			require.NoError(t, wire.Publish(t.Context(), topics, 2, wire.Message{Key: key, Deleted: true}))
		}
	}
	one.reads()
	require.NoError(t, topics.Compact())
	two := newProcess(t, "two", optionsFor(topics))
	two.leads()
	require.Len(t, predictions(t, topics), 3*nodes, "nothing is predicted again")
	require.Equal(t, 3*nodes, two.logic.Status().Predictions())
	require.Equal(t, lethe.Timestep(3), two.logic.state.models.served.Through)
}

// A process that is killed as it takes what an entry names takes the rest when it comes back, and nothing of what
// follows from it counts as published before the next entry says so.
func TestAStandbyKilledInAnEntryGoesOn(t *testing.T) {
	topics, w := topics(), newScenario(t, 3)
	one, two := newProcess(t, "one", optionsFor(topics)), newProcess(t, "two", optionsFor(topics))
	one.leads()
	publish(t, topics, w, 1)
	one.reads()
	two.reads()
	before := two.content()
	o := one.o
	o.Bus = cutOff{topics, 0}
	one.o = o
	one.begin(0)
	one.leads()
	require.NoError(t, wire.Publish(t.Context(), topics, 1, w.graph(2)))
	_, err := one.Poll(t.Context())
	require.ErrorIs(t, err, errPulled)
	two.reads()
	// The store as it was, but for the place: the kill came behind that.
	require.NoError(t, two.store.Apply(func(out swapstore.Writer) error {
		for key := range two.content() {
			if _, was := before[key]; !was && key != placeKey {
				out.Delete([]byte(key))
			}
		}
		for key, value := range before {
			if key != placeKey {
				out.Set([]byte(key), []byte(value))
			}
		}
		return nil
	}))
	two.begin(0)
	two.leads()
	require.Len(t, predictions(t, topics), nodes)
}

// Whoever takes over gives no provisional score to what has a final one of before: it would be the newest, and no other
// follows it.
func TestNoProvisionalScoreFollowsAFinalOneOfBefore(t *testing.T) {
	topics, w := topics(), newScenario(t, 3)
	o := optionsFor(topics)
	o.Bus = cutOff{topics, nodes}
	one := newProcess(t, "one", o)
	o = optionsFor(topics)
	o.MaxTimestepJump, o.Scoring.Provisional = 1000, true
	two := newProcess(t, "two", o)
	one.leads()
	publish(t, topics, w, 1)
	require.NoError(t, wire.Publish(t.Context(), topics, 1, w.graph(2)))
	one.isPulled()
	two.leads()
	require.NotNil(t, two.logic.state.models.served)
	g := w.graphs[2]
	arrives := func(id lethe.TransactionID) {
		two.logic.arrivals.window.Transaction(lethe.Transaction{ID: id, Timestep: 2, Features: g.Row(0)}, time.Time{})
	}
	arrives(g.Nodes[0].ID)
	pass, err := two.logic.arrivals.scoreSome(t.Context(), true)
	require.NoError(t, err)
	require.Nil(t, pass)
}

// An entry that says that reasons are published is done once, though a process that comes back does the last one again.
func TestReasonsCountAsPublishedOnce(t *testing.T) {
	topics, w := topics(), wide(t, 2)
	o := alerting(topics, w)
	o.ReasonsBeside = true // and nobody makes them
	one, two := newProcess(t, "one", o), newProcess(t, "two", o)
	one.leads()
	publish(t, topics, w, 1, 2)
	one.reads()
	two.reads()
	require.Equal(t, nodes, two.logic.explaining.owed())
	require.NoError(t, two.logic.explaining.explained(journal.Explained{Timestep: 2, Owed: nodes}))
	require.Equal(t, nodes, two.logic.explaining.owed())
	require.NoError(t, two.logic.explaining.explained(journal.Explained{Timestep: 2}))
	require.Zero(t, two.logic.explaining.owed())
}

// A leader that was killed after it had begun an epoch has published nothing: its epoch does not confirm the
// predictions that follow from the entry before it.
func TestAnEpochConfirmsNothing(t *testing.T) {
	topics, w := topics(), newScenario(t, 3)
	o := optionsFor(topics)
	o.Bus = cutOff{topics, 0}
	one, three := newProcess(t, "one", o), newProcess(t, "three", optionsFor(topics))
	one.leads()
	publish(t, topics, w, 1)
	require.NoError(t, wire.Publish(t.Context(), topics, 1, w.graph(2)))
	one.isPulled()
	two := journal.Open(topics, journal.ForAll, roleName, "two", journal.Position{})
	require.NoError(t, two.Begin(t.Context(), topics.Write, nil))
	three.leads()
	require.Len(t, predictions(t, topics), nodes)
}
