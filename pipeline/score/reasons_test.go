package score

import (
	"context"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"lethe"
	"lethe/ingest/bus"
	"lethe/pipeline/role"
	"lethe/pipeline/role/roletest"
	"lethe/pipeline/wire"
	"lethe/scoring"
	"lethe/scoring/reasons"
)

// reasonsIn reads what was published, in order, and what is there by now: the newest
// record of every transaction, unless it was withdrawn.
func reasonsIn(
	t testing.TB, topics roletest.Reader,
) (published []*reasons.Record, there map[lethe.TransactionID]*reasons.Record) {
	t.Helper()
	there = make(map[lethe.TransactionID]*reasons.Record)
	for _, rec := range roletest.Records(t, topics, bus.Reasons) {
		key := lethe.TransactionID(rec.Key)
		if rec.Tombstone() {
			delete(there, key)
			continue
		}
		r, err := reasons.Decode(rec.Value)
		require.NoError(t, err)
		require.Equal(t, key, r.Transaction)
		published, there[key] = append(published, r), r
	}
	return published, there
}

// named are the transactions that a record names beside its own.
func named(r *reasons.Record) (out []lethe.TransactionID) {
	for _, c := range r.Components {
		for _, reason := range c.Reasons {
			if reason.Transaction != "" {
				out = append(out, reason.Transaction)
			}
		}
	}
	return out
}

// wide is a scenario of networks whose neighbours count.
func wide(t testing.TB, n lethe.Timestep) *scenario {
	w := newScenario(t, n)
	w.options.Hidden = 16
	return w
}

// alerting calls everything illicit.
func alerting(topics role.Bus, w *scenario) Options {
	o := optionsFor(topics)
	o.Layout = w.layout()
	o.Scoring.Threshold, o.Scoring.Reasons, o.FeatureNames = "0", 10, []string{"amount"}
	return o
}

// explainedRun is a role to which three timesteps have come.
func explainedRun(t *testing.T, o Options, w *scenario, store role.Store) subject {
	t.Helper()
	r := newSubject(t, o, store)
	for at := lethe.Timestep(1); at <= 3; at++ {
		require.NoError(t, r.arrive(t, w.model(0, at), w.model(1, at)))
		require.NoError(t, r.arrive(t, w.graph(at), w.manifest(at)))
	}
	return r
}

// Every alert has its reasons, which add up to the logit that the component had in its
// prediction; what is no alert has none.
func TestAlertsGetReasons(t *testing.T) {
	topics, w, store := topics(), wide(t, 3), roletest.NewStore()
	r := explainedRun(t, alerting(topics, w), w, store)
	published, there := reasonsIn(t, topics)
	require.Len(t, published, 2*nodes)
	require.Len(t, there, 2*nodes)
	for _, p := range predictions(t, topics) {
		record := there[p.Transaction]
		require.Equal(t, p.EnsembleVersion, record.EnsembleVersion)
		require.Equal(t, p.Timestep, record.Timestep)
		require.False(t, record.Again)
		require.Nil(t, record.Intercept)
		require.Len(t, record.Components, 1)
		c := record.Components[0]
		require.Equal(t, shards, c.Groups)
		require.InDelta(t, c.Logit, c.Sum(), 1e-3)
		require.NotEmpty(t, c.Reasons)
		for _, reason := range c.Reasons {
			require.Equal(t, reason.Feature != nil && *reason.Feature == 0, reason.Name == "amount")
		}
	}
	// What is served now says of timestep 4 what it will say.
	w4 := wide(t, 4)
	said, err := r.logic.predictor.runner.Ask(context.Background(), r.logic.state.models.served.Models,
		r.logic.explaining.newAsked(nil, w4.graphs[4], false).graph)
	require.NoError(t, err)
	require.NoError(t, r.arrive(t, w4.graph(4)))
	_, there = reasonsIn(t, topics)
	for i, n := range w4.graphs[4].Nodes {
		require.InDelta(t, said.Logits(r.logic.o.Layout)[0][i], there[n.ID].Components[0].Logit, 1e-4)
	}
	// A restart publishes nothing again and keeps no graph.
	again := newSubject(t, alerting(topics, w), store)
	require.NoError(t, again.arrive(t, w.graph(3)))
	published, _ = reasonsIn(t, topics)
	require.Len(t, published, 3*nodes)
	require.NoError(t, store.Scan([]byte(snapshotPrefix), func([]byte, []byte) error {
		t.Error("a graph waits for nothing")
		return nil
	}))

	for threshold, top := range map[scoring.ThresholdRule]int{"1": 10, "0": 0} {
		silent := roletest.NewBus(map[bus.Topic]int{bus.Models: 2})
		o := alerting(silent, w)
		o.Scoring.Threshold, o.Scoring.Reasons = threshold, top
		explainedRun(t, o, w, roletest.NewStore())
		published, _ := reasonsIn(t, silent)
		require.Empty(t, published)
	}
}

// Reasons that may name an erased transaction are made anew by the ensemble that has
// forgotten it, before the erasure is acknowledged; all others stay.
func TestReasonsNameErasedTransactionsNoMore(t *testing.T) {
	topics, w, store := topics(), wide(t, 3), roletest.NewStore()
	r := explainedRun(t, alerting(topics, w), w, store)
	before, _ := reasonsIn(t, topics)
	var node int
	graph := w.graphs[2]
	neighbours := make(map[lethe.TransactionID]bool)
	for _, p := range graph.Payments {
		if node = int(graph.Payments[0].Source); int(p.Source) == node {
			neighbours[graph.Nodes[p.Target].ID] = true
		}
	}
	require.Len(t, neighbours, 2)
	gone := w.erase(2, node)
	naming := 0
	for _, record := range before {
		for _, id := range named(record) {
			if id == gone {
				naming++
			}
		}
	}
	require.Equal(t, 2, naming)

	c := w.command(wire.PhaseSearch, []lethe.TransactionID{gone}, 3, 2)
	require.NoError(t, r.commanded(t, c))
	require.NoError(t, r.arrive(t, w.graph(2)))
	require.NoError(t, r.arrive(t, w.manifest(2)))
	// Killed here, it still knows what it owes.
	r = newSubject(t, alerting(topics, w), store)
	require.NoError(t, r.commanded(t, c))
	published, _ := reasonsIn(t, topics)
	require.Len(t, published, len(before), "made anew by an ensemble that has not forgotten")
	require.Zero(t, acks(t, topics)["erased"])

	for at := lethe.Timestep(2); at <= 3; at++ {
		require.NoError(t, r.arrive(t, w.model(0, at), w.model(1, at)))
	}
	require.Equal(t, 1, acks(t, topics)["erased"])
	published, there := reasonsIn(t, topics)
	require.Len(t, published, len(before)+len(neighbours))
	for _, record := range published[len(before):] {
		require.True(t, record.Again)
		require.True(t, neighbours[record.Transaction])
		require.Equal(t, w.ensemble(3), record.EnsembleVersion)
		require.InDelta(t, record.Components[0].Logit, record.Components[0].Sum(), 1e-3)
	}
	for id, record := range there {
		if id != gone { // the coordinator withdraws that
			require.NotContains(t, named(record), gone)
		}
	}
}

// A transaction that is suppressed is named no more, though graphs still hold it.
func TestReasonsNameNobodySuppressed(t *testing.T) {
	topics, w := topics(), wide(t, 3)
	r := newSubject(t, alerting(topics, w), roletest.NewStore())
	hidden := w.graphs[2].Nodes[w.graphs[2].Payments[0].Source].ID
	require.NoError(t, r.logic.state.hidden.suppress([]lethe.Digest{secret.Suppression(hidden)}, nil, nil))
	for at := lethe.Timestep(1); at <= 2; at++ {
		require.NoError(t, r.arrive(t, w.model(0, at), w.model(1, at), w.graph(at), w.manifest(at)))
	}
	published, there := reasonsIn(t, topics)
	require.Len(t, published, nodes-1)
	require.NotContains(t, there, hidden)
	for _, record := range published {
		require.NotContains(t, named(record), hidden)
		require.InDelta(t, record.Components[0].Logit, record.Components[0].Sum(), 1e-3)
	}
}

// reasonsNow are the records of reasons that are there, by transaction.
func reasonsNow(t testing.TB, topics *roletest.Bus) map[lethe.TransactionID]string {
	t.Helper()
	out := make(map[lethe.TransactionID]string)
	for _, rec := range roletest.Records(t, topics, bus.Reasons) {
		if out[lethe.TransactionID(rec.Key)] = string(rec.Value); rec.Tombstone() {
			delete(out, lethe.TransactionID(rec.Key))
		}
	}
	return out
}

// explainBeside makes all reasons that are owed, beside the loop.
func explainBeside(t testing.TB, r subject) {
	t.Helper()
	require.NoError(t, r.Feed(t.Context(), role.Input{}))
	for r.logic.explaining.background.Busy() {
		r.logic.explaining.background.RunHere()
		require.NoError(t, r.Feed(t.Context(), role.Input{}))
	}
}

// Predictions of later timesteps go before the reasons of earlier ones, which are those of the ensemble that made the
// predictions all the same, also after a restart.
func TestReasonsMadeBeside_AreThoseOfTheLoop(t *testing.T) {
	inLoop, w := topics(), wide(t, 3)
	explainedRun(t, alerting(inLoop, w), w, roletest.NewStore())

	beside, store := topics(), roletest.NewStore()
	o := alerting(beside, w)
	o.ReasonsBeside = true
	r := explainedRun(t, o, w, store)
	require.Len(t, predictions(t, beside), 2*nodes)
	require.Empty(t, reasonsNow(t, beside))
	require.Equal(t, 2*nodes, r.Status().ReasonsPending)
	require.Equal(t, lethe.Timestep(2), r.logic.explaining.at, "timestep 3 came while reasons of 2 were made")

	r = newSubject(t, o, store)
	require.Equal(t, 2*nodes, r.logic.Status().ReasonsPending)
	explainBeside(t, r)
	require.Equal(t, reasonsNow(t, inLoop), reasonsNow(t, beside))
	require.Zero(t, r.Status().ReasonsPending)
	requireNoModelLeft(t, r, store)
}

// requireNoModelLeft requires that the store has no model but those that are served or may be.
func requireNoModelLeft(t testing.TB, r subject, store role.Store) {
	t.Helper()
	require.NoError(t, store.Scan([]byte(modelPrefix), func(key, _ []byte) error {
		m, err := modelOf(key)
		models := r.logic.state.models
		kept := slices.Contains(models.servedModels, m) || models.candidates[m.candidate].digest == m.digest
		require.True(t, kept, "model %d of timestep %d is left", m.shard, m.timestep)
		return err
	}))
	require.NoError(t, store.Scan([]byte(pinPrefix), func([]byte, []byte) error {
		t.Error("an ensemble is kept for reasons")
		return nil
	}))
}

// An ensemble that has learnt from an erased transaction goes before the erasure is acknowledged, and the reasons that
// were owed by it are made by one that has not.
func TestErasure_ReasonsOwedByEarlierEnsembles_AreMadeAnew(t *testing.T) {
	topics, w, store := topics(), wide(t, 3), roletest.NewStore()
	o := alerting(topics, w)
	o.ReasonsBeside = true
	r := explainedRun(t, o, w, store)
	gone := w.erase(1, int(w.graphs[1].Payments[0].Source))
	require.NoError(t, r.commanded(t, w.command(wire.PhaseSearch, []lethe.TransactionID{gone}, 3, 1)))
	r.logic.explaining.background.RunHere() // what it has made of before the erasure counts no more
	require.NoError(t, r.arrive(t, w.graph(1)))
	require.NoError(t, r.arrive(t, w.manifest(1)))
	for at := lethe.Timestep(1); at <= 3; at++ {
		require.NoError(t, r.arrive(t, w.model(0, at), w.model(1, at)))
	}
	require.Zero(t, acks(t, topics)["erased"])
	require.Empty(t, reasonsNow(t, topics))
	explainBeside(t, r)
	require.Equal(t, 1, acks(t, topics)["erased"])
	published, there := reasonsIn(t, topics)
	require.Len(t, there, 2*nodes)
	for _, record := range published {
		require.True(t, record.Again)
		require.Equal(t, w.ensemble(3), record.EnsembleVersion)
	}
	requireNoModelLeft(t, r, store)
}

// Reasons state whether a neighbour is paid, pays, or both: they are made again if only one of two payments is erased
// (W153).
func TestReasonsAreMadeAgainIfOneOfTwoPaymentsIsErased(t *testing.T) {
	g := *wide(t, 2).graphs[2]
	to, from := lethe.Arc{Source: 0, Target: 1}, lethe.Arc{Source: 1, Target: 0}
	with := func(payments ...lethe.Arc) *lethe.Snapshot {
		next := g
		next.Payments = payments
		return &next
	}
	e := explained{alerts: []alert{{node: g.Nodes[0].Pseudonym}, {node: g.Nodes[2].Pseudonym}}}
	surround(with(to, from), e.alerts)
	require.False(t, e.within(with(to, from)).again)
	for _, left := range [][]lethe.Arc{{to}, {from}, {}} {
		after := e.within(with(left...))
		require.True(t, after.again)
		require.Equal(t, 1, after.owed())
	}
}
