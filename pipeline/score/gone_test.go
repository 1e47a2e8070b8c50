package score

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"lethe"
	"lethe/internal/swapstore"
	"lethe/internal/timestepkey"
	"lethe/pipeline/role/roletest"
	"lethe/pipeline/score/published"
	"lethe/pipeline/wire"
	"lethe/scoring"
)

// Train sends models of a timestep before it knows that this is gone, and their deletion
// may be compacted away before it is read. Whether such a model comes before the command
// or after it, it is forgotten, and the erasure waits for nothing. Once the timestep has
// come again, its models are taken.
func TestModelsOfAGoneTimestepAreForgotten(t *testing.T) {
	w, store, topics := newScenario(t, 2), roletest.NewStore(), topics()
	o := optionsFor(topics)
	o.Layout = w.layout()
	r := newSubject(t, o, store)
	require.NoError(t, r.arrive(t, w.graph(1), w.graph(2), w.manifest(1), w.model(0, 1), w.model(1, 1), w.manifest(2)))
	before, after := w.model(0, 2), w.model(1, 2)
	require.NoError(t, r.arrive(t, before))
	require.Len(t, candidatesOf(r, 2), 1)

	gone := w.remove(2)
	c := w.command(wire.PhaseSearch, gone, 1, 2)
	require.NoError(t, r.commanded(t, c))
	require.NoError(t, r.arrive(t, after))
	require.Empty(t, candidatesOf(r, 2))
	require.Equal(t, map[string]int{"suppressed": 1, "swapped": 1, "erased": 1, "scanned": 1}, acks(t, topics))

	r = newSubject(t, o, store)
	require.NoError(t, r.commanded(t, c))
	require.Empty(t, candidatesOf(r, 2))
	require.NoError(t, store.Scan([]byte(modelPrefix), func(key, _ []byte) error {
		m, err := modelOf(key)
		require.EqualValues(t, 1, m.timestep)
		return err
	}))

	after.Revision = c.Steps[0].Revision + 1
	require.NoError(t, r.arrive(t, after))
	require.Len(t, candidatesOf(r, 2), 1)
}

// What a killed process has not deleted of a timestep that it had noted as gone, and a graph that
// nothing waits for any more, goes at the start: they may hold what is erased.
func TestWhatAKilledProcessHasNotDeletedGoes(t *testing.T) {
	w, store, topics := newScenario(t, 2), roletest.NewStore(), topics()
	o := optionsFor(topics)
	o.Layout = w.layout()
	r := newSubject(t, o, store)
	require.NoError(t, r.arrive(t, w.graph(1), w.manifest(1), w.model(0, 1), w.model(1, 1), w.graph(2)))
	count := func() (n int) {
		for _, prefix := range []string{snapshotPrefix, publishedPrefix, explainedPrefix} {
			require.NoError(t, store.Scan([]byte(prefix), func([]byte, []byte) error {
				n++
				return nil
			}))
		}
		return n
	}
	before := count()
	require.Positive(t, before)
	require.NoError(t, store.Apply(func(k swapstore.Writer) error {
		k.Set(timestepkey.New(snapshotPrefix, 1), w.graph(1).Payload)
		k.Set(timestepkey.New(snapshotPrefix, 9), nil)
		k.Set(timestepkey.New(publishedPrefix, 9), (&published.Step{}).Encode())
		k.Set(timestepkey.New(explainedPrefix, 9), explained{}.encode())
		return nil
	}))
	require.Equal(t, before+4, count())
	newSubject(t, o, store)
	require.Equal(t, before, count())
}

// candidatesOf are the models of a timestep that may be served.
func candidatesOf(r subject, t lethe.Timestep) (out []candidate) {
	for c := range r.logic.state.models.candidates {
		if c.timestep == t {
			out = append(out, c)
		}
	}
	return out
}

func TestCandidatesAreReadAsTheyAreStored(t *testing.T) {
	c, digest := candidate{timestep: 3, shard: 1}, lethe.Digest{5}
	m, r, err := candidateOf(c.key(), encodeCandidate(digest, 7))
	require.NoError(t, err)
	require.Equal(t, model{c, digest}, m)
	require.Equal(t, lethe.Revision(7), r)
	_, _, err = candidateOf(c.key(), digest[:])
	require.Error(t, err)
}

// Reasons of a timestep that goes while they are made are not published, and no ensemble is kept for them.
func TestATimestepThatGoes_LeavesNoReasons(t *testing.T) {
	topics, w, store := topics(), wide(t, 3), roletest.NewStore()
	o := alerting(topics, w)
	o.ReasonsBeside = true
	r := explainedRun(t, o, w, store)
	require.Equal(t, lethe.Timestep(2), r.logic.explaining.at)
	for _, kind := range []wire.Kind{wire.KindSnapshot, wire.KindManifest} {
		require.NoError(t, r.arrive(t, wire.Message{Key: wire.Key{Kind: kind, Timestep: 2}, Deleted: true}))
	}
	explainBeside(t, r)
	for id := range reasonsNow(t, topics) {
		require.False(t, slices.ContainsFunc(w.graphs[2].Nodes, func(n lethe.SnapshotNode) bool { return n.ID == id }), id)
	}
	require.NotContains(t, r.logic.state.links, lethe.Timestep(2))
	require.NotContains(t, r.logic.state.models.pins, lethe.Timestep(2))
}

// W123: all alerts of a timestep are erased before their reasons are made. The leader's entry has no alert without
// reasons; a standby that left it out would never acknowledge the erasure.
func TestAStandbyAcknowledgesWhereAllAlertsAreErased(t *testing.T) {
	first, w := topics(), wide(t, 3)
	r := newProcess(t, "first", alerting(first, w))
	r.leads()
	for at := lethe.Timestep(1); at <= 2; at++ {
		publish(t, first, w, at)
		r.reads()
	}
	said := predictions(t, first)
	require.Len(t, said, nodes)
	slices.SortFunc(said, func(a, b *scoring.Prediction) int {
		if a.Probability > b.Probability {
			return -1
		}
		return 1
	})
	threshold := (said[0].Probability + said[1].Probability) / 2

	topics, w := topics(), wide(t, 3)
	o := alerting(topics, w)
	o.Scoring.Threshold, o.ReasonsBeside = scoring.ThresholdRule(fmt.Sprint(threshold)), true
	one, two := newProcess(t, "one", o), newProcess(t, "two", o)
	one.leads()
	for at := lethe.Timestep(1); at <= 2; at++ {
		publish(t, topics, w, at)
		one.reads()
		two.reads()
	}
	require.Equal(t, 1, one.logic.explaining.owed())
	require.Equal(t, 1, two.logic.explaining.owed())
	node := slices.IndexFunc(w.graphs[2].Nodes, func(n lethe.SnapshotNode) bool { return n.ID == said[0].Transaction })
	gone := []lethe.TransactionID{w.erase(1, 0), w.erase(2, node)} // the ensemble has learnt from the first
	alike := func() {
		for range 3 {
			one.reads()
			two.reads()
		}
	}
	commanded(t, topics, w.command(wire.PhaseSuppress, gone, 2))
	alike()
	require.NoError(t, wire.Publish(t.Context(), topics, 1, w.graph(1), w.graph(2), w.manifest(1), w.manifest(2)))
	commanded(t, topics, w.command(wire.PhasePurge, gone, 2, 1, 2))
	w.publishModels(t, topics, 1)
	w.publishModels(t, topics, 2)
	alike()
	for range 5 {
		one.logic.explaining.background.RunHere()
		alike()
	}
	require.Equal(t, map[string]int{"suppressed": 2, "swapped": 2, "erased": 2}, acks(t, topics))
}

// W137: a process that began when a graph was replaced leads, and has no alerts of its timestep. An erasure there had
// no reasons made again, for which a standby that has the alerts waited for ever. By now the leader reads them (W147).
func TestAStandbyAcknowledgesWhereTheLeaderHasNoAlerts(t *testing.T) {
	topics, w := topics(), wide(t, 3)
	o := alerting(topics, w)
	one, two := newProcess(t, "one", o), newProcess(t, "two", o)
	one.leads()
	for at := lethe.Timestep(1); at <= 2; at++ {
		publish(t, topics, w, at)
		one.reads()
		two.reads()
	}
	w.revisions[2]++
	require.NoError(t, wire.Publish(t.Context(), topics, 1, w.graph(2), w.manifest(2)))
	one.reads()
	two.reads()
	require.NoError(t, topics.Compact())
	three := newProcess(t, "three", o)
	three.leads()
	alerts, err := readExplained(three.store, 2)
	require.NoError(t, err)
	require.Empty(t, alerts.alerts)

	gone := []lethe.TransactionID{w.erase(2, 0)}
	alike := func() {
		for range 3 {
			three.reads()
			two.reads()
		}
	}
	commanded(t, topics, w.command(wire.PhaseSuppress, gone, 2))
	alike()
	require.NoError(t, wire.Publish(t.Context(), topics, 1, w.graph(2), w.manifest(2)))
	commanded(t, topics, w.command(wire.PhasePurge, gone, 2, 2))
	w.publishModels(t, topics, 2)
	alike()
	require.False(t, two.logic.state.links.owesAgain())
	require.Equal(t, map[string]int{"suppressed": 2, "swapped": 2, "erased": 2}, acks(t, topics))
}
