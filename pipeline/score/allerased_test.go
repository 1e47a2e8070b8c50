package score

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"lethe"
	"lethe/pipeline/wire"
	"lethe/scoring"
)

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
