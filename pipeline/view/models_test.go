package view_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"lethe"
	"lethe/canonical"
	"lethe/pipeline/view"
	"lethe/pipeline/wire"
)

func share(x float64) *float64 { return &x }

// What a threshold or a budget comes to is counted of the predictions whose labels are in, and
// follows what is erased.
func TestOutcomesOfThresholdsAndBudgets(t *testing.T) {
	r := newRig(t)
	r.predicted(predictionOf("a", 1, .9), predictionOf("b", 1, .7), predictionOf("c", 1, .7), predictionOf("d", 1, .1),
		predictionOf("e", 1, .95), predictionOf("f", 2, .8))
	labels := map[lethe.TransactionID]lethe.Label{
		"a": lethe.Illicit, "b": lethe.Illicit, "c": lethe.Licit, "d": lethe.Illicit,
	}
	r.graph(1, 1, labels, "a", "b", "c", "d", "e")
	r.graph(2, 1, map[lethe.TransactionID]lethe.Label{"f": lethe.Licit}, "f")
	for _, c := range []struct {
		choice view.Choice
		want   view.Outcome
	}{
		{view.Choice{}, view.Outcome{2, 5, 3, 4, 2, share(.5), share(2. / 3)}},
		{view.Choice{Threshold: share(.75)}, view.Outcome{2, 5, 3, 2, 1, share(.5), share(1. / 3)}},
		{view.Choice{Threshold: share(1)}, view.Outcome{2, 5, 3, 0, 0, nil, share(0)}},
		{view.Choice{Timestep: timestepOf(1), Budget: 2}, view.Outcome{1, 4, 3, 2, 1.5, share(.75), share(.5)}},
		{view.Choice{Budget: 1}, view.Outcome{2, 5, 3, 2, 1, share(.5), share(1. / 3)}},
		{view.Choice{Timestep: timestepOf(2)}, view.Outcome{1, 1, 0, 1, 0, share(0), nil}},
		{view.Choice{Timestep: timestepOf(3)}, view.Outcome{}},
	} {
		got, err := r.reader.Outcome(c.choice)
		require.NoError(t, err)
		require.Equal(t, &c.want, got, "%+v", c.choice)
	}
	r.command(wire.PhaseSuppress, 0, nil, "a")
	r.command(wire.PhasePurge, 0, nil, "a")
	r.graph(1, 2, labels, "b", "c", "d", "e")
	got, err := r.reader.Outcome(view.Choice{Timestep: timestepOf(1)})
	require.NoError(t, err)
	require.Equal(t, 3, got.Labelled, "what is erased counts no more")
}

// sliceOf publishes what a shard holds of a timestep.
func (r *rig) sliceOf(
	t lethe.Timestep, shard lethe.ShardID, revision lethe.Revision, labels map[lethe.TransactionID]lethe.Label,
	members ...lethe.TransactionID,
) {
	s := &lethe.Slice{Timestep: t, Previous: t - 1, Shard: shard, FeatureCount: 1}
	slices.SortFunc(members, func(a, b lethe.TransactionID) int {
		return secret.Pseudonym(a).Compare(secret.Pseudonym(b))
	})
	for _, id := range members {
		s.Nodes, s.Features = append(s.Nodes, secret.Pseudonym(id)), append(s.Features, 1)
		s.Labels = append(s.Labels, labels[id])
	}
	if len(members) > 1 {
		s.Edges = []lethe.Edge{{A: 0, B: 1}}
	}
	message := wire.Message{
		Key: wire.Key{Kind: wire.KindSlice, Shard: shard, Timestep: t}, Revision: revision, Payload: canonical.EncodeSlice(s),
	}
	require.NoError(r.t, wire.Publish(r.t.Context(), r.topics, 1, message))
	r.settle()
}

// How a timestep was dealt is told of the newest slices, and goes with the timestep.
func TestShardsOfATimestep(t *testing.T) {
	r := newRig(t)
	labels := map[lethe.TransactionID]lethe.Label{
		"a": lethe.Illicit, "b": lethe.Licit, "c": lethe.Licit, "d": lethe.Illicit,
	}
	r.graph(1, 1, labels, "a", "b", "c", "d")
	none, err := r.reader.Shards(1)
	require.NoError(t, err)
	require.Nil(t, none)
	r.sliceOf(1, 0, 1, labels, "a", "b")
	r.sliceOf(1, 1, 1, labels, "c", "d")
	got, err := r.reader.Shards(1)
	require.NoError(t, err)
	require.Zero(t, got.Balance)
	require.Zero(t, got.Fairness)
	require.InDelta(t, 1./3, got.Cut, 1e-9, "of the three payments one leads from shard to shard")
	require.Equal(t, []int{1, 1}, []int{got.Shards[0].Illicit, got.Shards[1].Illicit})

	r.sliceOf(1, 1, 2, labels, "c")
	r.sliceOf(1, 1, 1, labels, "c", "d") // an older revision
	got, err = r.reader.Shards(1)
	require.NoError(t, err)
	require.Equal(t, 1, got.Shards[1].Nodes)
	require.Negative(t, got.Balance)
	gone := []wire.CommandStep{{Timestep: 1, Revision: 3, Gone: true, Settled: true}}
	r.command(wire.PhasePurge, 0, gone, "a", "b", "c", "d")
	none, err = r.reader.Shards(1)
	require.NoError(t, err)
	require.Nil(t, none)
}
